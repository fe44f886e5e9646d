import type { FastifyInstance, FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../errors.ts'
import { CombinedLimits, type RouteLimits, routeRules } from '../http/combined-limits.ts'
import { conclude, nodeHeader, pathOf, settleOnClose } from '../http/node-exchange.ts'
import type { Refusal } from '../http/problem.ts'
import type { RequestLimit } from '../http/request-limit.ts'
import type { RequestLimitOptions, RequestReader } from '../http/request-options.ts'

/** When in the life of a request it is decided. */
type Hook = 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler'

export interface RateLimitOptions extends RequestLimitOptions<FastifyRequest, FastifyReply> {
  /** Default: `onRequest`, before the body is read. `preHandler` for a key that authentication finds. */
  hook?: Hook
  /** Answers a refused request in the place of the problem document; its headers and status are set. */
  handler?: (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) => unknown
}

/** A limit of one route, or several: counted for the route, and decided in one step with the plugin's. `false`: no limit. */
export type RouteLimit = RouteLimits | false

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limit of this route besides those of the `tidegate/fastify` plugin. `false`: none at all. */
    tidegate?: RouteLimit
  }
}

type Limit = RequestLimit<FastifyRequest, FastifyReply>

/** Whom a route's limit counts for: each client on that route. */
const ROUTE_KEY: readonly string[] = ['method', 'route', 'client']

const HOOKS: readonly Hook[] = ['onRequest', 'preParsing', 'preValidation', 'preHandler']

/** Fastify's own `trustProxy` is what decides where the option is not given: `ips` is there if it trusts anybody. */
const reader: RequestReader<FastifyRequest> = {
  peer: ({ raw }) => raw.socket?.remoteAddress,
  ip: ({ ips, ip }) => (ips === undefined ? undefined : ip),
  header: nodeHeader,
  method: ({ method }) => method,
  route: ({ routeOptions, url }) => routeOptions?.url ?? pathOf(url),
  identity: ({ raw }) => raw,
}

const plugin: FastifyPluginCallback<RateLimitOptions> = (instance, options, done) => {
  try {
    install(instance, options)
    done()
  } catch (error) {
    done(error as Error)
  }
}

function install(instance: FastifyInstance, options: RateLimitOptions): void {
  const { hook = 'onRequest', handler, ...limits } = withoutPrefix(options)
  if (!HOOKS.includes(hook)) throw invalid('ERR_INVALID_OPTION', 'hook', `one of ${HOOKS.join(', ')}`, hook)
  const combined = new CombinedLimits<FastifyRequest, FastifyReply>(limits, reader)
  const made = new WeakMap<RouteLimits, Limit>()
  const limitOf = (own: RouteLimit | undefined): Limit | undefined => {
    if (own === undefined || own === false) return own === false ? undefined : combined.base
    const known = made.get(own)
    if (known !== undefined) return known
    const limit = combined.combine(routeRules(own, 'route', ROUTE_KEY))
    made.set(own, limit)
    return limit
  }
  // A mistake in a route's limit is told where the route is made, and not by its first request.
  instance.addHook('onRoute', ({ config }) => {
    limitOf(config?.tidegate)
  })
  const decide = (request: FastifyRequest, reply: FastifyReply, next: (error?: Error) => void): void => {
    const limit = limitOf(request.routeOptions?.config?.tidegate)
    if (limit === undefined) next()
    else decideBy(limit, request, reply, next, handler)
  }
  addHook(instance, hook, decide)
}

/**
 * A plugin for Fastify 5: `app.register(rateLimit, { limit: 100, window: '1m' })`. It applies to the instance that it is
 * registered with and what is below it; a route adds its own with `config: { tidegate: { limit: 5, window: '1m' } }`.
 * @throws TidegateError when it is registered: `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE`
 */
export const rateLimit: FastifyPluginCallback<RateLimitOptions> = Object.assign(plugin, {
  // What fastify-plugin does: the hooks belong to the instance that registers the plugin.
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'tidegate',
  [Symbol.for('plugin-meta')]: { name: 'tidegate', fastify: '5.x' },
})

function decideBy(
  limit: Limit,
  request: FastifyRequest,
  reply: FastifyReply,
  next: (error?: Error) => void,
  handler: RateLimitOptions['handler'],
): void {
  conclude(() => limit.check(request), {
    pass: next,
    fail: (error) => next(error as Error),
    announce: ({ headers, charge }) => {
      if (!reply.sent) reply.headers(headers)
      if (charge !== undefined) settleOnClose(limit, request, reply, reply.raw, charge)
    },
    refuse: (refusal) => {
      if (reply.sent) return
      reply.code(refusal.status)
      if (handler !== undefined) {
        const answering = handler(request, reply, refusal)
        // A reply can be waited for, and is then over: what comes of that is Fastify's to handle.
        return answering === reply ? undefined : answering
      }
      reply.header('Content-Type', refusal.contentType).send(refusal.body)
    },
  })
}

type Decide = (request: FastifyRequest, reply: FastifyReply, next: (error?: Error) => void) => void

function addHook(instance: FastifyInstance, hook: Hook, decide: Decide): void {
  if (hook === 'preParsing') {
    instance.addHook(hook, (request, reply, payload, next) => {
      decide(request, reply, (error) => next(error ?? null, error === undefined ? payload : undefined))
    })
  } else instance.addHook(hook as 'onRequest', decide)
}

/** `register` adds options of its own to those of a plugin. */
function withoutPrefix(options: RateLimitOptions): RateLimitOptions {
  const { prefix: _, logLevel: __, logSerializers: ___, ...own } = options as RateLimitOptions & Record<string, unknown>
  return own
}
