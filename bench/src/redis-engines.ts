import type { Redis } from 'ioredis'
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible'
import { RedisRateLimiter } from 'rolling-rate-limiter'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { read } from './reading.ts'

/** Decides one request and reads the whole answer. */
export type Decide = (key: string) => Promise<void>

export interface Quota {
  readonly limit: number
  readonly seconds: number
}

export function tidegate(client: Redis, { limit, seconds }: Quota, maxBatch?: number): Decide {
  const store = redisStore(client, { deadlineMs: 60_000, ...(maxBatch !== undefined && { maxBatch }) })
  const limiter = createLimiter({ limit, window: `${seconds}s`, name: 'bench', store })
  return async (key) => {
    const { allowed, remaining, retryAfterMs } = await limiter.limit(key)
    read(allowed, remaining, retryAfterMs)
  }
}

/** Fixed windows: one counter a key. A refusal is a rejection that carries the same figures. */
export function flexible(client: Redis, { limit, seconds }: Quota): Decide {
  const limiter = new RateLimiterRedis({ storeClient: client, points: limit, duration: seconds })
  return async (key) => {
    try {
      const { remainingPoints } = await limiter.consume(key)
      read(true, remainingPoints, 0)
    } catch (refusal) {
      if (refusal instanceof Error) throw refusal
      const { remainingPoints, msBeforeNext } = refusal as RateLimiterRes
      read(false, remainingPoints, msBeforeNext)
    }
  }
}

/** A ZSET a key, in MULTI. It counts what it refuses, too. */
export function rolling(client: Redis, { limit, seconds }: Quota): Decide {
  const limiter = new RedisRateLimiter({
    client,
    namespace: 'rolling:',
    interval: seconds * 1000,
    maxInInterval: limit,
  })
  return async (key) => {
    const { blocked, actionsRemaining, millisecondsUntilAllowed } = await limiter.limitWithInfo(key)
    read(!blocked, actionsRemaining, millisecondsUntilAllowed)
  }
}
