import type { Entry } from '../../admission.ts'
import type { RuleDecision, Source } from '../../decision.ts'
import type { FailurePolicy } from '../../failure-policy.ts'
import type { Key } from '../../key.ts'
import type { AlgorithmName } from '../../limit.ts'
import type { Settlement } from '../../reservation.ts'

/**
 * The protocol between `remoteStore` and a service: the body of `POST /v1/store`, and of its answer. Operations are done
 * in their order, and each has its answer in the same place. Durations are whole milliseconds.
 */
export interface WireRequest {
  /** The rules that the operations speak of by their place. */
  readonly rules?: readonly WireRule[]
  /** At most 1,000. */
  readonly operations: readonly WireOperation[]
}

/** A rule as a store needs it: how it is counted, and nothing of what it matches. */
export interface WireRule {
  /** What its state is filed under. Refused where this service would file it elsewhere. */
  readonly id: string
  readonly name: string
  readonly key: readonly string[]
  readonly algorithm: AlgorithmName
  readonly limit: number
  readonly window?: number
  readonly resolution?: number
  readonly capacity?: number
  readonly refill?: number
  readonly align?: unknown
  readonly timeZone?: unknown
  readonly penalty?: { readonly blocks: readonly number[]; readonly forgetAfter: number }
  readonly shadow?: boolean
  readonly onStoreFailure?: FailurePolicy
  /** Which dimension of `key` alone decides the slot of a cluster. */
  readonly slot?: number
  /** Of one shard among so many: `limit` is its part, and the keys have its number. */
  readonly shards?: number
}

export interface WireCheck {
  readonly rule: number
  readonly key: Key
  readonly cost: number
  readonly id?: string
}

/** One counter: a rule, by its place, and a key. */
interface Counter {
  readonly rule: number
  readonly key: Key
}

export interface WireAdmission {
  readonly at?: number
  readonly id?: string
  readonly usedBefore?: number
  readonly source?: Source
}

export type WireOperation =
  | { readonly op: 'consume' | 'peek'; readonly checks: readonly WireCheck[] }
  | { readonly op: 'reserve'; readonly checks: readonly WireCheck[]; readonly expiresIn: number }
  | ({ readonly op: 'settle'; readonly id: string; readonly cost: number } & Counter)
  | ({ readonly op: 'refund'; readonly cost: number; readonly of?: WireAdmission } & Counter)
  | ({ readonly op: 'renew'; readonly id: string } & Counter)
  | ({ readonly op: 'block'; readonly duration: number | 'forever' } & Counter)
  | ({ readonly op: 'entries' | 'unblock' | 'reset' } & Counter)
  | { readonly op: 'heartbeat'; readonly instance: string; readonly life: number }
  | { readonly op: 'ping' }

export type OperationName = WireOperation['op']

/** The figures of one check; `held` of a lease that was held before, so that nothing was charged. */
export type WireFigures = RuleDecision & { readonly held?: true }

export interface WireError {
  readonly code: string
  readonly message: string
  readonly field?: string
  readonly expected?: string
}

export type WireAnswer =
  | { readonly figures: readonly WireFigures[]; readonly source: Source }
  | { readonly result: Settlement | number | boolean | readonly Entry[] | null }
  | { readonly error: WireError }

export interface WireResponse {
  readonly answers: readonly WireAnswer[]
}

/** The path of the endpoint. */
export const STORE_PATH = '/v1/store'

/** The most operations in one request. */
export const MOST_OPERATIONS = 1000

/** The most rules that the operations of one body can speak of. */
export const MOST_RULES = 1_000
