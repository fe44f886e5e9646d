import type { Redis } from 'ioredis'
import { createLimiter, type LimitOptions, type Store } from 'tidegate'
import { type RedisStoreOptions, redisStore } from 'tidegate/redis'
import { read } from '../reading.ts'
import type { Ask, Engine, Quota } from './engine.ts'

/** No decision falls back: what is measured is Redis. */
const PATIENT = { deadlineMs: 60_000 }

/** Exact, and every decision by Redis: what is known to be refused is asked again. */
export const exact: Engine = {
  name: 'tidegate',
  counts: 'exact',
  open: (client, quota) => tidegate(withoutCache(client), quota),
}

/** As it comes: refusals that still hold are answered without Redis. */
export const cached: Engine = {
  name: 'tidegate, denied-cache on',
  counts: 'exact',
  isLocal: true,
  open: (client, quota) => tidegate(redisStore(client, PATIENT), quota),
}

export const fixedWindow: Engine = {
  name: 'tidegate, fixed window',
  counts: 'fixed window',
  open: (client, quota) => tidegate(withoutCache(client), quota, { algorithm: 'fixed-window' }),
}

export const leased: Engine = {
  name: 'tidegate, leased',
  counts: 'exact',
  isLocal: true,
  open: (client, quota) => tidegate(redisStore(client, PATIENT), quota, { mode: 'leased' }),
}

export function inBatches(size: number): Engine {
  return {
    name: `tidegate, batches of ${size}`,
    counts: 'exact',
    open: (client, quota) => tidegate(withoutCache(client, { maxBatch: size }), quota),
  }
}

function tidegate(
  store: Store,
  { limit, seconds }: Quota,
  options: Partial<LimitOptions> & { readonly mode?: 'leased' } = {},
): Ask {
  const limiter = createLimiter({ limit, window: `${seconds}s`, name: 'bench', store, ...options })
  return async (key) => {
    const { allowed, remaining, retryAfterMs } = await limiter.limit(key)
    read(allowed, remaining, retryAfterMs)
    return allowed
  }
}

function withoutCache(client: Redis, more: RedisStoreOptions = {}): Store {
  return redisStore(client, { ...PATIENT, ...more, deniedCache: false })
}
