import type { Admission, Entry } from '../admission.ts'
import type { RuleDecision } from '../decision.ts'
import type { Quota } from '../quota.ts'

/** Stands for a key of which nothing is stored. */
export const UNTOUCHED = -1

/**
 * A limit as a state machine: no I/O, no clock, no randomness. `evaluate` says what a request of
 * this cost would get and changes nothing; `commit` is the step itself. Each has a twin in Lua
 * beside it, with the same names in the same order, and the differential test holds them together.
 *
 * A state is a number: where the algorithm keeps it. A million states are then a few large arrays,
 * which cost the garbage collector nothing and the processor's caches little.
 *
 * `clock` is the store's reading. It may step back: an algorithm then decides at the newest time
 * it has seen, or, where that is further away than `spanMs`, takes what is live as made now.
 */
export interface Algorithm {
  /** Makes room for a state that `commit` fills at once. */
  open(): number
  /** Takes the room back. */
  release(state: number): void
  /** What `cost` gets at `clock`: the figures as they are once an admission has been committed. */
  evaluate(state: number, quota: Quota, cost: number, clock: number, id?: string): RuleDecision
  /** Charges `cost` at `at`, the time of its evaluation. With a cost of 0 it only settles a clock that has stepped back. */
  commit(state: number, quota: Quota, cost: number, at: number, id?: string): void
  /** True where `commit` with cost 0 has something to settle at `at`. */
  unsettled(state: number, at: number): boolean
  /** True where the state no longer counts at `clock`, so that it can be forgotten. */
  idle(state: number, quota: Quota, clock: number): boolean
  /**
   * Gives back up to `cost`: of that one admission if it is still live, else (`of` undefined) of the
   * oldest live ones. What is given back whole is as if it had never been admitted.
   * @returns what was given back, never more than counted; 0 where nothing of it is live
   */
  refund(state: number, quota: Quota, cost: number, clock: number, of: Admission | undefined): number
  /** Concurrency: a lease lives on for its whole time from now. @returns false where it has ended */
  renew?(state: number, quota: Quota, id: string, clock: number): boolean
  /** Concurrency: what the lease of this id costs; undefined where it has ended. */
  leased?(state: number, quota: Quota, id: string, clock: number): number | undefined
  /** Concurrency: a live lease costs so much more, past the limit too. It is not renewed. */
  raise?(state: number, quota: Quota, cost: number, clock: number, id: string): void
  /** Where admissions are kept one by one: those that are live, oldest first. */
  entries?(state: number, quota: Quota, clock: number): Entry[]
}
