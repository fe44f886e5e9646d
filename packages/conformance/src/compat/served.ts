import 'reflect-metadata'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastifyRateLimit, { type RateLimitPluginOptions } from '@fastify/rate-limit'
import { serve } from '@hono/node-server'
import { Controller, Get, type INestApplication, Module } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { ThrottlerGuard, ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler'
import express, { type Request } from 'express'
import { type Options, rateLimit } from 'express-rate-limit'
import { fastify } from 'fastify'
import { type Context, Hono } from 'hono'
import { type ConfigProps, rateLimiter } from 'hono-rate-limiter'
import { stop } from '../frameworks/framework.ts'
import { decorate } from '../frameworks/nestjs.ts'

/** A server that somebody else's limiter protects. */
export interface Served {
  readonly port: number
  close(): Promise<void>
}

/** Requests are counted for the user that they name. */
const USER = 'x-user'

/** What `/fail` answers, as an application that refuses a wrong password. */
const FAILED = 401

export async function serveExpress(options: Partial<Options>): Promise<Served> {
  const app = express()
  const keyGenerator = (request: Request) => String(request.headers[USER])
  app.use(rateLimit({ keyGenerator, validate: false, ...options }))
  app.get('/', (_request, response) => void response.send('ok'))
  app.get('/fail', (_request, response) => void response.sendStatus(FAILED))
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return served(server, () => stop(server))
}

export async function serveFastify(options: RateLimitPluginOptions): Promise<Served> {
  const app = fastify({ forceCloseConnections: true })
  await app.register(fastifyRateLimit, { keyGenerator: ({ headers }) => String(headers[USER]), ...options })
  app.get('/', () => 'ok')
  app.get('/tight', { config: { rateLimit: { max: 1, timeWindow: 30_000 } } }, () => 'ok')
  await app.listen({ port: 0, host: '127.0.0.1' })
  return served(app.server, () => app.close())
}

export async function serveHono(options: Record<string, unknown>): Promise<Served> {
  const app = new Hono()
  const config = { keyGenerator: (context: Context) => String(context.req.header(USER)), ...options }
  app.use(rateLimiter(config as unknown as ConfigProps))
  app.get('/', (context) => context.text('ok'))
  app.get('/fail', (context) => context.text('no', FAILED))
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => {
      resolve(served(server as Server, () => stop(server as Server)))
    })
  })
}

export async function serveNest(options: ThrottlerModuleOptions): Promise<Served> {
  class ByUser extends ThrottlerGuard {
    protected override async getTracker(request: Request): Promise<string> {
      return String(request.headers[USER])
    }
  }
  class Root {
    index(): string {
      return 'ok'
    }
  }
  Controller()(Root)
  decorate(Root.prototype, 'index', Get('/'))
  class App {}
  // The guard is made by its parent's constructor, whose parameters Nest knows.
  const guard = { provide: APP_GUARD, useClass: ByUser }
  Module({ imports: [ThrottlerModule.forRoot(options)], controllers: [Root], providers: [guard] })(App)
  const created = { logger: false, forceCloseConnections: true } as const
  const app = (await NestFactory.create(App, new ExpressAdapter(), created)) as INestApplication
  await app.listen(0, '127.0.0.1')
  return served(app.getHttpServer() as Server, () => app.close())
}

function served(server: Server, close: () => Promise<void>): Served {
  return { port: (server.address() as AddressInfo).port, close }
}
