export { clientOf } from './client-address.ts'
export { type HeaderOptions, type LegacyHeaders, rateLimitHeaders, type StandardHeaders } from './headers.ts'
export type { MaybePromise } from './maybe-promise.ts'
export type { Problem, Refusal } from './problem.ts'
export { type Ended, RequestLimit } from './request-limit.ts'
export type {
  Charge,
  LimitsOptions,
  Outcome,
  RequestLimitOptions,
  RequestReader,
} from './request-options.ts'
export type { TrustProxy } from './trust.ts'
export type { HttpWarning, HttpWarningCode, Warn } from './warnings.ts'
