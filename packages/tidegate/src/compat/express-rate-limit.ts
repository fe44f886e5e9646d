import type { HitCountOptions } from './hit-counts.ts'
import { WindowStore } from './window-store.ts'

export type { HitCountOptions } from './hit-counts.ts'
export type { WindowStore } from './window-store.ts'

/**
 * A store for express-rate-limit 8: `rateLimit({ windowMs, limit, store: expressRateLimitStore() })`. Each limiter needs
 * one of its own.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function expressRateLimitStore(options: HitCountOptions = {}): WindowStore {
  return new WindowStore(options, 'express-rate-limit')
}
