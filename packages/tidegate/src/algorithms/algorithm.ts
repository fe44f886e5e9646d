import type { Verdict } from '../decision.ts'

/** What an algorithm needs to know of a rule. */
export interface Quota {
  readonly limit: number
  readonly windowMs: number
}

/**
 * A limit as a state machine: no I/O, no clock, no randomness. `evaluate` says what a request of
 * this cost would get and changes nothing; `commit` is the step itself. Each has a twin in Lua
 * beside it, with the same names in the same order, and the differential test holds them together.
 *
 * `clock` is the store's reading. It may step back: an algorithm then decides at the newest time
 * it has seen, or, where that is further away than a window, takes what is live as made now.
 */
export interface Algorithm<State> {
  /** The state of a key that nothing is stored of. */
  untouched(): State
  /** False until the first commit. */
  touched(state: State): boolean
  /** What `cost` gets at `clock`: the figures as they are once an admission has been committed. */
  evaluate(state: State, quota: Quota, cost: number, clock: number): Verdict
  /** Charges `cost` at `at`, the time of its verdict. With a cost of 0 it only settles a clock that has stepped back. */
  commit(state: State, quota: Quota, cost: number, at: number): void
  /** True where `commit` with cost 0 has something to settle at `at`. */
  unsettled(state: State, at: number): boolean
  /** True where the state no longer counts at `clock`, so that it can be forgotten. */
  idle(state: State, quota: Quota, clock: number): boolean
}
