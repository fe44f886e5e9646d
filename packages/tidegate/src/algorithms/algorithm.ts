import type { RuleDecision } from '../decision.ts'

/** What an algorithm needs to know of a rule. */
export interface Quota {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
}

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
 * it has seen, or, where that is further away than a window, takes what is live as made now.
 */
export interface Algorithm {
  /** Makes room for a state that `commit` fills at once. */
  open(): number
  /** Takes the room back. */
  release(state: number): void
  /** What `cost` gets at `clock`: the figures as they are once an admission has been committed. */
  evaluate(state: number, quota: Quota, cost: number, clock: number): RuleDecision
  /** Charges `cost` at `at`, the time of its evaluation. With a cost of 0 it only settles a clock that has stepped back. */
  commit(state: number, quota: Quota, cost: number, at: number): void
  /** True where `commit` with cost 0 has something to settle at `at`. */
  unsettled(state: number, at: number): boolean
  /** True where the state no longer counts at `clock`, so that it can be forgotten. */
  idle(state: number, quota: Quota, clock: number): boolean
}
