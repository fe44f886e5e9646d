import type { HitCountOptions } from './hit-counts.ts'
import { WindowStore } from './window-store.ts'

export type { HitCountOptions } from './hit-counts.ts'
export type { WindowStore } from './window-store.ts'

/**
 * A store for hono-rate-limiter: `rateLimiter({ windowMs, limit, keyGenerator, store: honoRateLimiterStore() })`. Each
 * limiter needs one of its own.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function honoRateLimiterStore(options: HitCountOptions = {}): WindowStore {
  return new WindowStore(options, 'hono-rate-limiter')
}
