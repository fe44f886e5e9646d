import type { RuleDecision } from '../decision.ts'
import type { Key } from '../key.ts'
import type { Leasing } from './leasing.ts'
import type { Batch } from './permits.ts'

/** What a request has come to: figures, and where it was admitted the batch that it has used. */
export interface Outcome {
  readonly figures: RuleDecision
  /** Undefined where it was refused. */
  readonly batch: Batch | undefined
}

/** A pool, as it is told of. */
export interface Holder {
  readonly leasing: Leasing
  readonly key: Key
}

/** What a pool asks of the store that it belongs to. */
export interface PoolEvents {
  /** Charges so many permits at once, or none. Rejects as a store does. @param until ms of the monotonic clock */
  take(pool: Holder, permits: number, until: number): Promise<RuleDecision>
  /** Permits came. */
  taken(pool: Holder, permits: number): void
  /** Permits that nobody has used are to be given back. */
  giveBack(pool: Holder, batch: Batch, permits: number): void
  /** Permits that nobody has used are no more. */
  lost(pool: Holder, permits: number): void
  /** Ms that never go back; with a store's own clock the time of that. */
  now(): number
  /** The most permits that may be held; infinite where the limit alone bounds them. */
  most(pool: Holder): number
}

export interface Waiter {
  readonly cost: number
  readonly until: number
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: unknown) => void
}

/** What is asked for in one step. */
export interface Take {
  readonly permits: number
  /** The least with which the first of those who wait is admitted. */
  readonly needed: number
  /** How many have waited before it was sent: the others are no part of its answer. */
  readonly asked: number
  /** Nobody waits for the answer after that, by the true monotonic clock, ms. */
  readonly until: number
}
