import 'reflect-metadata'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  Controller,
  type ExecutionContext,
  Get,
  HttpCode,
  HttpException,
  type INestApplication,
  Module,
  Post,
  Req,
  Res,
  type Type,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { type NestRequest, type NestResponse, type RateLimitOptions, rateLimit } from 'tidegate/nestjs'
import { acceptUpgrades, adapterOptions, type Framework, firstHeader, Handlers } from './framework.ts'

type Decorate = (target: object, name: string, descriptor: PropertyDescriptor) => void

/** Decorators, applied without their syntax, which is no part of JavaScript yet. */
export function decorate(target: object, name: string, ...decorators: Decorate[]): void {
  const descriptor = Object.getOwnPropertyDescriptor(target, name) as PropertyDescriptor
  for (const one of decorators) one(target, name, descriptor)
}

/** The handlers as a controller, in a module with our limits. */
function moduleOf(handlers: Handlers, options: RateLimitOptions): Type {
  class HandlersController {
    ok(): string {
      return handlers.ok()
    }
    fail(): never {
      return handlers.fail()
    }
    slow(): Promise<string> {
      return handlers.slow()
    }
    release(): string {
      return handlers.release()
    }
    echo(request: IncomingMessage & { body?: unknown; raw?: unknown }, response: { send(body: unknown): void }): void {
      if (request.raw === undefined) request.pipe(response as unknown as ServerResponse)
      else response.send(request.body)
    }
  }
  Controller()(HandlersController)
  const { prototype } = HandlersController
  decorate(prototype, 'ok', Get('/'))
  decorate(prototype, 'fail', Get('fail'))
  decorate(prototype, 'slow', Get('slow'))
  decorate(prototype, 'release', Get('release'))
  decorate(prototype, 'echo', Post('echo'), HttpCode(200))
  Req()(prototype, 'echo', 0)
  Res()(prototype, 'echo', 1)
  class Root {}
  Module({ imports: [rateLimit(options)], controllers: [HandlersController] })(Root)
  return Root
}

/** Nest on one of its platforms. */
function nestFramework(name: string, adapter: () => ExpressAdapter | FastifyAdapter): Framework {
  return {
    name,
    start: async (options) => {
      const handlers = new Handlers()
      const root = moduleOf(handlers, {
        ...adapterOptions<ExecutionContext, NestResponse>(options, (context, header) => {
          return firstHeader(context.switchToHttp().getRequest<NestRequest>(), header)
        }),
        ...(options.answer !== undefined && {
          handler: (_context, refusal) => new HttpException(options.answer as string, refusal.status),
        }),
      })
      const app = (await NestFactory.create(root, adapter(), {
        logger: false,
        bodyParser: false,
        forceCloseConnections: true,
      })) as INestApplication
      if (adapter() instanceof FastifyAdapter) {
        const instance = app.getHttpAdapter().getInstance()
        instance.addContentTypeParser('*', (_request: unknown, payload: unknown, done: (e: null, p: unknown) => void) =>
          done(null, payload),
        )
      }
      acceptUpgrades(app.getHttpServer())
      await app.listen(0, '127.0.0.1')
      return { server: app.getHttpServer(), handled: () => handlers.handled, close: () => app.close() }
    },
  }
}

export const nestExpress = nestFramework('NestJS 11 on Express', () => new ExpressAdapter())
export const nestFastify = nestFramework('NestJS 11 on Fastify', () => new FastifyAdapter())
