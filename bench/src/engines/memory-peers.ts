import fastifyRateLimit from '@fastify/rate-limit'
import { ThrottlerStorageService } from '@nestjs/throttler'
import { MemoryStore } from 'express-rate-limit'
import { type FastifyRequest, fastify } from 'fastify'
import { RateLimiter } from 'limiter'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { InMemoryRateLimiter } from 'rolling-rate-limiter'
import { read } from '../reading.ts'
import { each, eachAwaited, LIMIT, type MemoryEngine, WINDOW_MS } from './memory-engine.ts'

/** Peers in one process, each through its public API, as it comes. */
export const memoryPeers = {
  // It says no by a rejection that carries the same figures.
  'rate-limiter-flexible': () => {
    const limiter = new RateLimiterMemory({ points: LIMIT, duration: WINDOW_MS / 1000 })
    return eachAwaited(async (key) => {
      try {
        const { remainingPoints } = await limiter.consume(key)
        read(true, remainingPoints, 0)
      } catch (refusal) {
        const { remainingPoints, msBeforeNext } = refusal as RateLimiterRes
        read(false, remainingPoints, msBeforeNext)
      }
    })
  },

  'express-rate-limit': () => {
    const store = new MemoryStore()
    store.init({ windowMs: WINDOW_MS } as Parameters<typeof store.init>[0])
    return eachAwaited(async (key) => {
      const { totalHits, resetTime } = await store.increment(key)
      read(totalHits <= LIMIT, Math.max(0, LIMIT - totalHits), Number(resetTime) - Date.now())
    })
  },

  // Its cache of 5,000 keys would forget most of 100,000.
  '@fastify/rate-limit': async () => {
    const app = fastify()
    const keyGenerator = ({ id }: FastifyRequest) => id
    await app.register(fastifyRateLimit, {
      ...{ global: false, max: LIMIT, timeWindow: WINDOW_MS },
      ...{ cache: 200_000, keyGenerator },
    })
    await app.ready()
    const check = app.createRateLimit()
    return eachAwaited(async (key) => {
      const decision = await check({ id: key, routeOptions: {} } as FastifyRequest)
      if (!decision.isAllowed) read(!decision.isExceeded, decision.remaining, decision.ttl)
    })
  },

  // One a key; who uses it keeps the Map.
  limiter: () => {
    const limiters = new Map<string, RateLimiter>()
    return each((key) => {
      let limiter = limiters.get(key)
      if (limiter === undefined) {
        limiter = new RateLimiter({ tokensPerInterval: LIMIT, interval: WINDOW_MS })
        limiters.set(key, limiter)
      }
      const allowed = limiter.tryRemoveTokens(1)
      read(allowed, limiter.getTokensRemaining(), allowed ? 0 : limiter.getWaitTime(1))
    })
  },

  '@nestjs/throttler': () => {
    const storage = new ThrottlerStorageService()
    return eachAwaited(async (key) => {
      const { totalHits, timeToExpire, isBlocked } = await storage.increment(key, WINDOW_MS, LIMIT, 0, 'default')
      read(!isBlocked, Math.max(0, LIMIT - totalHits), timeToExpire)
    })
  },

  'rolling-rate-limiter': () => {
    const limiter = new InMemoryRateLimiter({ interval: WINDOW_MS, maxInInterval: LIMIT })
    return eachAwaited(async (key) => {
      const { blocked, actionsRemaining, millisecondsUntilAllowed } = await limiter.limitWithInfo(key)
      read(!blocked, actionsRemaining, millisecondsUntilAllowed)
    })
  },
} satisfies Record<string, MemoryEngine>
