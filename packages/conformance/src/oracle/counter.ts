import type { LimitOptions, RuleDecision, RuleOptions } from 'tidegate'
import type { Admission } from 'tidegate/store'

/** A rule whose limit stands in it. */
export type LimitedRule = RuleOptions & LimitOptions

/** What an oracle says of one limit of a request. */
export type Verdict = Pick<RuleDecision, 'allowed' | 'used' | 'retryAfterMs' | 'resetAfterMs' | 'at' | 'reason'>

/**
 * One key of one rule by brute force, straight from the definition of its algorithm: slow, and too
 * simple to be wrong in the same way as the code. `clock` is ms since the epoch and can step back.
 */
export interface Counter {
  /** The rule as it is from now on: another limit, on what has been counted. */
  follow(rule: LimitedRule): void
  /** Whether a request of this cost is admitted. */
  admits(cost: number, clock: number, id: string): boolean
  /** The figures once `charged` (the cost, or 0 where the request was refused elsewhere) has been counted; counts nothing. */
  verdict(cost: number, charged: number, clock: number, id: string): Verdict
  /** Counts what has been admitted. */
  admit(cost: number, clock: number, id: string): void
  /** Writes down that the clock came right after having been far ahead, if it did. */
  comeRight(clock: number): void
  /** Gives back up to `cost`, and says how much. */
  refund(cost: number, clock: number, of: Admission | undefined): number
  /** Of leases: what the one of this id costs, undefined where it has ended; and it costs so much more. */
  leased?(clock: number, id: string): number | undefined
  raise?(cost: number, clock: number, id: string): void
  renew?(id: string, clock: number): boolean
  entries?(clock: number): { at: number; id: string; cost: number }[]
}
