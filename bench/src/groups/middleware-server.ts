import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastifyRateLimit from '@fastify/rate-limit'
import express, { type RequestHandler } from 'express'
import { rateLimit as expressRateLimit } from 'express-rate-limit'
import { type FastifyInstance, fastify } from 'fastify'
import { Redis } from 'ioredis'
import { RedisStore } from 'rate-limit-redis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { rateLimit as tidegateExpress } from 'tidegate/express'
import { rateLimit as tidegateFastify } from 'tidegate/fastify'
import { redisStore } from 'tidegate/redis'

/*
 * One server of one framework with one limiter, in a process of its own: `middleware-server.js FRAMEWORK LIMITER [REDIS]`.
 * Prints its port, and answers each message with the processor time that it has used. Without the port of a Redis it
 * counts in memory.
 */

/** Nothing reaches it: what is measured is an admitted request. */
const LIMIT = 1_000_000_000
const WINDOW_MS = 60_000
/** No decision falls back: what is measured is Redis. */
const PATIENT = { deadlineMs: 60_000 }

const [, , framework = '', limiter = '', redisPort] = process.argv
const client = redisPort === undefined ? undefined : await clientOf(Number(redisPort))

/** The limiters of Express, each in its own words. */
const middlewares: Record<string, () => RequestHandler> = {
  tidegate: () => {
    const limit = { limit: LIMIT, window: WINDOW_MS }
    return tidegateExpress(
      client === undefined ? limit : { ...limit, name: 'bench', store: redisStore(client, PATIENT) },
    )
  },
  'express-rate-limit': () => {
    const store = client && new RedisStore({ sendCommand: (...args: string[]) => send(client, args) })
    return expressRateLimit({ limit: LIMIT, windowMs: WINDOW_MS, standardHeaders: 'draft-8', ...(store && { store }) })
  },
  'rate-limiter-flexible': () => {
    const options = { points: LIMIT, duration: WINDOW_MS / 1000 }
    const flexible = client ? new RateLimiterRedis({ ...options, storeClient: client }) : new RateLimiterMemory(options)
    return (request, response, next) => {
      flexible.consume(request.ip ?? '').then(
        () => next(),
        () => response.status(429).end(),
      )
    }
  },
}

const plugins: Record<string, (app: FastifyInstance) => void> = {
  tidegate: (app) => {
    const limit = { limit: LIMIT, window: WINDOW_MS }
    app.register(
      tidegateFastify,
      client === undefined ? limit : { ...limit, name: 'bench', store: redisStore(client, PATIENT) },
    )
  },
  '@fastify/rate-limit': (app) => {
    app.register(fastifyRateLimit, { max: LIMIT, timeWindow: WINDOW_MS, ...(client && { redis: client }) })
  },
}

const server = framework === 'express' ? await serveExpress() : await serveFastify()
console.log((server.address() as AddressInfo).port)
process.on('message', () => process.send?.(process.cpuUsage()))

async function serveExpress(): Promise<Server> {
  const app = express()
  const middleware = middlewares[limiter]?.()
  if (middleware !== undefined) app.use(middleware)
  app.get('/', (_request, response) => void response.send('hello'))
  const listening = createServer(app)
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  return listening
}

async function serveFastify(): Promise<Server> {
  const app = fastify()
  plugins[limiter]?.(app)
  // @fastify/rate-limit sees only the routes that are made after it.
  app.register(async (scope) => void scope.get('/', (_request, reply) => void reply.send('hello')))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

async function clientOf(port: number): Promise<Redis> {
  const opened = new Redis({ host: '127.0.0.1', port, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })
  await opened.ping()
  return opened
}

function send(redis: Redis, [command = '', ...args]: string[]): Promise<number> {
  return redis.call(command, ...args) as Promise<number>
}
