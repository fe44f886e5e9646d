import fastifyRateLimit from '@fastify/rate-limit'
import { type FastifyRequest, fastify } from 'fastify'
import type { Redis } from 'ioredis'
import { RedisStore } from 'rate-limit-redis'
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import { read } from '../reading.ts'
import type { Engine } from './engine.ts'

/** A refusal is a rejection that carries the same figures. */
const flexible: Engine = {
  name: 'rate-limiter-flexible',
  counts: 'fixed window',
  open: (client, { limit, seconds }) => {
    const limiter = new RateLimiterRedis({ storeClient: client, points: limit, duration: seconds })
    return async (key) => {
      try {
        const { remainingPoints } = await limiter.consume(key)
        read(true, remainingPoints, 0)
        return true
      } catch (refusal) {
        if (refusal instanceof Error) throw refusal
        const { remainingPoints, msBeforeNext } = refusal as RateLimiterRes
        read(false, remainingPoints, msBeforeNext)
        return false
      }
    }
  },
}

/** The Redis store of express-rate-limit, as that asks it. */
const rateLimitRedis: Engine = {
  name: 'rate-limit-redis',
  counts: 'fixed window',
  open: async (client, { limit, seconds }) => {
    const store = new RedisStore({ sendCommand: (...words: string[]) => send(client, words) })
    await store.init({ windowMs: seconds * 1000 } as Parameters<typeof store.init>[0])
    return async (key) => {
      const { totalHits, resetTime } = await store.increment(key)
      const allowed = totalHits <= limit
      read(allowed, Math.max(0, limit - totalHits), Number(resetTime) - Date.now())
      return allowed
    }
  },
}

/** `createRateLimit` of the plugin decides without a route; all that it needs of a request is its key. */
const fastifyPlugin: Engine = {
  name: '@fastify/rate-limit',
  counts: 'fixed window',
  open: async (client, { limit, seconds }) => {
    const app = fastify()
    await app.register(fastifyRateLimit, {
      global: false,
      redis: client,
      max: limit,
      timeWindow: seconds * 1000,
      keyGenerator: ({ id }) => id,
    })
    await app.ready()
    const check = app.createRateLimit()
    return async (key) => {
      const decision = await check({ id: key, routeOptions: {} } as FastifyRequest)
      if (decision.isAllowed) throw new Error('@fastify/rate-limit did not count a request')
      read(!decision.isExceeded, decision.remaining, decision.ttl)
      return !decision.isExceeded
    }
  },
}

export const fixedWindows = { flexible, rateLimitRedis, fastifyPlugin }

function send(client: Redis, [command = '', ...words]: string[]): Promise<number> {
  return client.call(command, ...words) as Promise<number>
}
