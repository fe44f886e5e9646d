import { invalid } from './errors.ts'
import type { FailurePolicy } from './failure-policy.ts'
import { checkFields } from './options.ts'

/**
 * Why a store did not decide. `deadline`: it had not answered in time. `breaker`: it was not asked, because it had failed
 * too often. `error`: it could not be reached, or answered with an error. `overload`: too much was waiting for it.
 */
export type FallbackCause = 'deadline' | 'breaker' | 'error' | 'overload'

/** One request that was decided without its store. */
export interface FallbackEvent {
  readonly cause: FallbackCause
  readonly allowed: boolean
  /** Each of its rules, in order. */
  readonly rules: readonly { readonly rule: string; readonly policy: FailurePolicy; readonly allowed: boolean }[]
}

/** An answer of the store that came after its request had been decided without it. */
export interface LateReplyEvent {
  /** How long after the deadline it came, ms. */
  readonly lateMs: number
}

export type BreakerState = 'closed' | 'open' | 'half-open'

/** A breaker that changed: `closed` asks the store, `open` does not, `half-open` asks it once. */
export interface BreakerEvent {
  readonly from: BreakerState
  readonly to: BreakerState
  /** Of one that opened: ms until the store is looked after again. */
  readonly retryInMs: number
}

/** A question to the store that failed. */
export interface StoreErrorEvent {
  /** The method of the store: `decide`, `refund`, … */
  readonly operation: string
  readonly error: unknown
}

/** What has become of permits of a rule with `mode: 'leased'`: those taken are used if they are not told of again. */
export interface LeaseEvent {
  readonly rule: string
  /**
   * `taken`: from the store, in one batch. `returned`: to the store, unused. `expired`: unused, and not taken back; they count
   * until their time is over.
   */
  readonly what: 'taken' | 'returned' | 'expired'
  readonly permits: number
}

/** Rules, or a configuration, that were refused; the ones before stay in force. */
export interface ConfigRefusalEvent {
  /** Where they came from. */
  readonly source: string
  readonly error: unknown
}

export type WarningCode =
  | 'TIDEGATE_STORE_EVICTS'
  | 'TIDEGATE_STORE_MEMORY'
  | 'TIDEGATE_STORE_REPLICA'
  | 'TIDEGATE_STORE_REFUSES'
  | 'TIDEGATE_CLOCK_SKEW'
  | 'TIDEGATE_CLIENT_RESENDS'
  | 'TIDEGATE_CLIENT_FORGETS'

/** Something that will not do what is expected of it. */
export interface WarningEvent {
  readonly code: WarningCode
  readonly message: string
}

/**
 * Is told what a user of metrics or alarms wants to know. Every method can be left out. What it throws, or rejects with,
 * changes no decision and is dropped. It is called on the way of decisions: let it count, and return.
 */
export interface Observer {
  fallback?(event: FallbackEvent): void
  lateReply?(event: LateReplyEvent): void
  breakerChange?(event: BreakerEvent): void
  storeError?(event: StoreErrorEvent): void
  lease?(event: LeaseEvent): void
  configRefusal?(event: ConfigRefusalEvent): void
  warning?(event: WarningEvent): void
}

const METHODS: readonly (keyof Observer)[] = [
  'fallback',
  'lateReply',
  'breakerChange',
  'storeError',
  'lease',
  'configRefusal',
  'warning',
]

/** Whoever wants to know nothing. */
export const NOBODY: Observer = {}

/**
 * An observer that was handed in; an instance of a class will do.
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function checkObserver(value: unknown, field = 'observer'): Observer {
  if (value === undefined) return NOBODY
  const expected = `an object with functions among ${METHODS.join(', ')}`
  if (typeof value !== 'object' || value === null) throw invalid('ERR_INVALID_OPTION', field, expected, value)
  // A misspelt method would never be called.
  if (Object.getPrototypeOf(value) === Object.prototype) checkFields(value, field, METHODS)
  for (const name of METHODS) {
    const method = (value as Record<string, unknown>)[name]
    if (method !== undefined && typeof method !== 'function') {
      throw invalid('ERR_INVALID_OPTION', `${field}.${name}`, 'a function', method)
    }
  }
  return value
}

/** Tells an observer, whatever it does. */
export function notify<Name extends keyof Observer>(
  observer: Observer,
  name: Name,
  event: Parameters<NonNullable<Observer[Name]>>[0],
): void {
  try {
    const answer: unknown = (observer[name] as ((event: unknown) => unknown) | undefined)?.call(observer, event)
    if (answer instanceof Promise) answer.catch(() => undefined)
  } catch {
    // Whoever only watches breaks nothing.
  }
}
