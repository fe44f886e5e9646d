import { invalid } from '../errors.ts'
import { checkObserver, type Observer } from '../observer.ts'
import { checkFields, checkInteger } from '../options.ts'
import type { BreakerSettings } from './breaker.ts'

/** When a store that fails is no longer asked. */
export interface BreakerOptions {
  /** So many failures in a row open it; 1 to 1,000,000. Default: 5. */
  failures?: number
  /** So does this share of failures in the window, above 0 to 1. Default: 0.5. */
  share?: number
  /** ms, 100 to 600,000. Default: 10,000. */
  windowMs?: number
  /** The share counts from so many decisions in the window on; 1 to 1,000,000. Default: 20. */
  minimum?: number
  /** The first pause before the store is looked after; each is twice the one before. 1 to 600,000 ms. Default: 100. */
  backoffMs?: number
  /** The longest of these pauses; 1 to 600,000 ms, and never less than the first. Default: 2,000. */
  maxBackoffMs?: number
}

/** How a store is kept from holding requests up, and what decides when it does not. */
export interface GuardOptions {
  /** How long a decision waits for the store; 1 to 60,000 ms. Default: 20. Then its rules' `onStoreFailure` decides. */
  deadlineMs?: number
  breaker?: BreakerOptions
  /**
   * How many instances share the limits, where that is known and fixed; 1 to 1,000,000. Default: those whose heartbeats
   * the store has seen, as far as it can count them.
   */
  instances?: number
  /** The most keys that are counted in this process while the store is away; 1 to 8,000,000. Default: 100,000. */
  maxLocalKeys?: number
  /** Is told of each decision that was made without the store, of late answers, of changes of the breaker. */
  observer?: Observer
}

/** The names of these options. */
export const guardFields: readonly (keyof GuardOptions)[] = [
  'deadlineMs',
  'breaker',
  'instances',
  'maxLocalKeys',
  'observer',
]

export const DEFAULT_DEADLINE_MS = 20

export interface GuardSettings {
  readonly deadlineMs: number
  readonly breaker: BreakerSettings
  readonly instances: number | undefined
  readonly maxLocalKeys: number
  readonly observer: Observer
}

/** @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION` */
export function guardSettings(options: Record<string, unknown>): GuardSettings {
  const { deadlineMs = DEFAULT_DEADLINE_MS, breaker = {}, instances, maxLocalKeys = 100_000, observer } = options
  return {
    deadlineMs: checkInteger(deadlineMs, 'deadlineMs', 1, 60_000),
    breaker: breakerSettings(breaker),
    instances: instances === undefined ? undefined : checkInteger(instances, 'instances', 1, 1_000_000),
    maxLocalKeys: checkInteger(maxLocalKeys, 'maxLocalKeys', 1, 8_000_000),
    observer: checkObserver(observer),
  }
}

const MOST_MS = 600_000
const BREAKER_FIELDS = ['failures', 'share', 'windowMs', 'minimum', 'backoffMs', 'maxBackoffMs']

function breakerSettings(options: unknown): BreakerSettings {
  const fields = checkFields(options, 'breaker', BREAKER_FIELDS)
  const { failures = 5, share = 0.5, windowMs = 10_000, minimum = 20, backoffMs = 100, maxBackoffMs = 2_000 } = fields
  if (typeof share !== 'number' || !(share > 0 && share <= 1)) {
    throw invalid('ERR_INVALID_OPTION', 'breaker.share', 'a number above 0 to 1', share)
  }
  const first = checkInteger(backoffMs, 'breaker.backoffMs', 1, MOST_MS)
  return {
    failures: checkInteger(failures, 'breaker.failures', 1, 1_000_000),
    share,
    windowMs: checkInteger(windowMs, 'breaker.windowMs', 100, MOST_MS),
    minimum: checkInteger(minimum, 'breaker.minimum', 1, 1_000_000),
    backoffMs: first,
    maxBackoffMs: Math.max(first, checkInteger(maxBackoffMs, 'breaker.maxBackoffMs', 1, MOST_MS)),
  }
}
