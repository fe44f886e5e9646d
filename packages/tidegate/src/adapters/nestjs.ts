import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  type CustomDecorator,
  type DynamicModule,
  type ExceptionFilter,
  type ExecutionContext,
  HttpException,
  Inject,
  Injectable,
  type InjectionToken,
  Module,
  type ModuleMetadata,
  type OptionalFactoryDependency,
  type Provider,
  SetMetadata,
  type Type,
} from '@nestjs/common'
import { APP_FILTER, APP_GUARD } from '@nestjs/core'
import { CombinedLimits, type RouteLimits, routeRules } from '../http/combined-limits.ts'
import type { MaybePromise } from '../http/maybe-promise.ts'
import { settleOnClose } from '../http/node-exchange.ts'
import type { Refusal } from '../http/problem.ts'
import type { RequestLimit } from '../http/request-limit.ts'
import type { RequestLimitOptions } from '../http/request-options.ts'
import { type NestResponse, rawResponse, reader, responseOf } from './nestjs-reader.ts'

export type { NestRequest, NestResponse } from './nestjs-reader.ts'

export interface RateLimitOptions extends RequestLimitOptions<ExecutionContext, NestResponse> {
  /** Whether all routes are guarded. Default: `true`; `false` where `@UseGuards(RateLimitGuard)` says which. */
  global?: boolean
  /** Makes the exception of a refused request, in the place of one with the problem document; the headers are set. */
  handler?: (context: ExecutionContext, refusal: Refusal) => Error
}

/** Makes options out of what the container has. */
export interface RateLimitOptionsFactory {
  createRateLimitOptions(): MaybePromise<RateLimitOptions>
}

export interface RateLimitAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** As in `RateLimitOptions`: it has to be known before the others. */
  global?: boolean
  inject?: (InjectionToken | OptionalFactoryDependency)[]
  // biome-ignore lint/suspicious/noExplicitAny: Nest injects whatever `inject` names.
  useFactory?: (...dependencies: any[]) => MaybePromise<RateLimitOptions>
  useClass?: Type<RateLimitOptionsFactory>
  useExisting?: Type<RateLimitOptionsFactory>
}

const OPTIONS = 'TIDEGATE_OPTIONS'
const LIMITS = 'TIDEGATE_LIMITS'
const OWN = 'tidegate:limits'
const SKIP = 'tidegate:skip'

type Limit = RequestLimit<ExecutionContext, NestResponse>

/** The limits of an application, and those that its routes add. */
class RouteLimiter {
  readonly handler: RateLimitOptions['handler']
  readonly #combined: CombinedLimits<ExecutionContext, NestResponse>
  readonly #made = new WeakMap<object, WeakMap<object, Limit>>()

  constructor({ global: _, handler, ...options }: RateLimitOptions) {
    this.handler = handler
    this.#combined = new CombinedLimits(options, reader)
  }

  limitOf(context: ExecutionContext): Limit | undefined {
    const [controller, route] = [context.getClass(), context.getHandler()]
    if (metadataOf<boolean>(SKIP, route) ?? metadataOf<boolean>(SKIP, controller)) return undefined
    const made = this.#made.get(controller) ?? new WeakMap<object, Limit>()
    this.#made.set(controller, made)
    const known = made.get(route)
    if (known !== undefined) return known
    const rules = [
      ...rulesOf(metadataOf(OWN, controller), 'controller', ['controller', 'client']),
      ...rulesOf(metadataOf(OWN, route), 'route', ['method', 'route', 'client']),
    ]
    const limit = rules.length === 0 ? this.#combined.base : this.#combined.combine(rules)
    if (limit !== undefined) made.set(route, limit)
    return limit
  }
}

function rulesOf(own: readonly RouteLimits[] | undefined, name: string, key: readonly string[]) {
  return (own ?? []).flatMap((limits, i) => routeRules(limits, i === 0 ? name : `${name}-${i + 1}`, key))
}

/** What a refused request ends with, unless there is a `handler`. Filters of your own can catch it. */
export class RateLimitException extends HttpException {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.problem, refusal.status)
    this.refusal = refusal
  }
}

/** Answers with the problem document: Nest itself would send it as any other JSON. */
class RateLimitFilter implements ExceptionFilter<RateLimitException> {
  catch({ refusal }: RateLimitException, host: ArgumentsHost): void {
    const response = responseOf(host)
    response.header('Content-Type', refusal.contentType)
    response.status(refusal.status).send(refusal.body)
  }

  static {
    Catch(RateLimitException)(RateLimitFilter)
  }
}

/** Limits what its routes are asked over HTTP; WebSockets and messages pass. Of Nest on Express and on Fastify. */
export class RateLimitGuard implements CanActivate {
  readonly #limiter: RouteLimiter

  constructor(limiter: RouteLimiter) {
    this.#limiter = limiter
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const limit = context.getType() === 'http' ? this.#limiter.limitOf(context) : undefined
    if (limit === undefined) return true
    const { headers, refusal, charge } = await limit.check(context)
    const response = responseOf(context)
    for (const name in headers) response.header(name, headers[name] as string)
    if (refusal === undefined) {
      if (charge !== undefined) settleOnClose(limit, context, response, rawResponse(response), charge)
      return true
    }
    throw this.#limiter.handler?.(context, refusal) ?? new RateLimitException(refusal)
  }

  static {
    Injectable()(RateLimitGuard)
    Inject(LIMITS)(RateLimitGuard, undefined, 0)
  }
}

/** A module for the root of an application: `imports: [RateLimitModule.forRoot({ limit: 100, window: '1m' })]`. */
// biome-ignore lint/complexity/noStaticOnlyClass: a module of Nest is a class.
export class RateLimitModule {
  /** @throws TidegateError when the application is made: `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE` */
  static forRoot(options: RateLimitOptions = {}): DynamicModule {
    return moduleOf([{ provide: OPTIONS, useValue: options }], options.global)
  }

  static forRootAsync(options: RateLimitAsyncOptions): DynamicModule {
    const { imports = [], inject = [], useFactory, useClass, useExisting, global } = options
    const factory = useExisting ?? useClass
    const provider: Provider =
      factory === undefined
        ? { provide: OPTIONS, inject, useFactory: useFactory ?? (() => ({})) }
        : {
            provide: OPTIONS,
            inject: [factory],
            useFactory: (made: RateLimitOptionsFactory) => made.createRateLimitOptions(),
          }
    return moduleOf(useClass === undefined ? [provider] : [provider, useClass], global, imports)
  }

  static {
    Module({})(RateLimitModule)
  }
}

/** The same as `RateLimitModule.forRoot`, by the name that it has in every framework. */
export function rateLimit(options: RateLimitOptions = {}): DynamicModule {
  return RateLimitModule.forRoot(options)
}

/**
 * Limits a route, or a controller as a whole, besides what the module limits; all are decided in one step. Of one route
 * each client has its own count: `@Limit({ limit: 5, window: '1m' })`.
 */
export function Limit(...limits: RouteLimits[]): CustomDecorator {
  return SetMetadata(OWN, limits)
}

/** Frees a route, or all of a controller, of every limit; on a route `@SkipLimit(false)` limits it again. */
export function SkipLimit(skip = true): CustomDecorator {
  return SetMetadata(SKIP, skip)
}

function moduleOf(options: Provider[], global = true, imports: ModuleMetadata['imports'] = []): DynamicModule {
  const limits = { provide: LIMITS, inject: [OPTIONS], useFactory: (own: RateLimitOptions) => new RouteLimiter(own) }
  const guard: Provider[] = global ? [{ provide: APP_GUARD, useClass: RateLimitGuard }] : []
  return {
    module: RateLimitModule,
    global: true,
    imports,
    providers: [...options, limits, { provide: APP_FILTER, useClass: RateLimitFilter }, ...guard],
    exports: [LIMITS],
  }
}

/** What a decorator has put down. Nest itself needs reflect-metadata, which adds this to Reflect. */
function metadataOf<Value>(key: string, target: object): Value | undefined {
  const { getMetadata } = Reflect as unknown as { getMetadata: (key: string, target: object) => Value | undefined }
  return getMetadata(key, target)
}
