import type { Entry } from '../admission.ts'
import type { Atomicity, Decision } from '../decision.ts'
import type { Descriptor } from '../descriptor.ts'
import type { Duration } from '../duration.ts'
import type { FailurePolicy } from '../failure-policy.ts'
import type { AcquireOptions, WaitingOptions } from '../local/acquire.ts'
import type { Observer } from '../observer.ts'
import type { FOREVER } from '../penalty.ts'
import type { RefundOptions } from '../refund.ts'
import type { RequestOptions } from '../request.ts'
import type { GateSettlement, ReserveOptions, SettleOptions } from '../reservation.ts'
import type { Rule, RuleOptions } from '../rule.ts'
import type { Store } from '../stores/store.ts'
import type { RuleChanges } from './rule-changes.ts'

export interface GateOptions<Rules extends readonly RuleOptions[] = readonly RuleOptions[]> extends WaitingOptions {
  rules: Rules
  /** Default: a memory store of the gate's own. */
  store?: Store
  /**
   * For a Redis Cluster: the keys of all rules that have this dimension in their `key` lie in the slot of its value, so
   * that rules of one tenant, say, are decided in one step. Default: each key lies where all its values put it.
   */
  slot?: string
  /**
   * `'strict'` refuses rules that a cluster cannot decide in one step. Default: `'compensated'`, in one step where that
   * can be, and else so that nothing is over-admitted and no refused request leaves a charge; each decision says which.
   */
  atomicity?: Atomicity
  /** What decides while the store does not answer, for rules that do not say so themselves. Default: `'local'`. */
  onStoreFailure?: FailurePolicy
  /** Is told of each decision, and of rules that `update` refuses; of the store, the store's own observer is. */
  observer?: Observer
}

/**
 * Many rules over one request: all that match are decided in one atomic step, all-or-nothing.
 * A `Request` has the dimensions that the rules name, where they are given literally: others do not compile.
 */
export interface Gate<Request = Descriptor> {
  /** The rules as they are now, checked. */
  readonly rules: readonly Rule[]
  /** A fingerprint of the rules as they are now, the same wherever they are loaded. */
  readonly version: string
  /**
   * Replaces all rules, or none: where anything is wrong with the new ones, those that are there stay. What has been begun
   * is decided by the rules it began with; who waits in `acquire` asks again by the new ones, in the order of arrival.
   * Counts are kept by name: a changed limit applies to them at once, a changed algorithm, window, resolution or key
   * begins anew.
   * @returns what has changed
   * @throws TidegateError as `createGate`, and `ERR_CLOSED`
   */
  update(rules: readonly RuleOptions[]): RuleChanges
  /**
   * Tells what each later `update` has changed, once it has; nothing where it has changed nothing. What the listener
   * throws is an unhandled rejection, and no failure of the update.
   * @returns a function that ends this
   */
  onUpdate(listener: (changes: RuleChanges) => void): () => void
  /**
   * Decides one request by every rule that matches it; charges all of them or none.
   * @throws TidegateError (rejects) `ERR_INVALID_DESCRIPTOR`, `ERR_INVALID_KEY`, `ERR_INVALID_COST`, `ERR_INVALID_LIMIT`, `ERR_STORE_…`, `ERR_STATE_…`, `ERR_CLOSED`
   */
  limit(descriptor: Request, options?: RequestOptions): Promise<Decision>
  /** The same at once, where the store is memory. @throws TidegateError, also `ERR_SYNC_UNSUPPORTED` */
  limitSync(descriptor: Request, options?: RequestOptions): Decision
  /**
   * Waits until the request is admitted. In this process first come, first served among the requests of the same
   * counters; those that have only some of their counters in common do not wait for each other, and whoever asks the
   * store first passes. Refused, at once, is what can never be admitted or not within `timeoutMs`, and at that deadline
   * whatever still waits. Rejects with the signal's reason once that is aborted, and has then charged nothing.
   * @throws TidegateError (rejects) as `limit`, and `ERR_INVALID_OPTION`, `ERR_TOO_MANY_WAITING`
   */
  acquire(descriptor: Request, options?: AcquireOptions): Promise<Decision>
  /** What `limit` would answer now, without charging. */
  peek(descriptor: Request, options?: RequestOptions): Promise<Decision>
  /** The same at once, where the store is memory. */
  peekSync(descriptor: Request, options?: RequestOptions): Decision
  /**
   * Gives back what was admitted, of each rule that matches: of that one admission, with its decision, if it is still
   * live; else of the oldest live ones. Each rule by itself, so that one can fail alone.
   * @returns the cost that each rule was given back, by name
   */
  refund(descriptor: Request, options?: RefundOptions): Promise<ReadonlyMap<string, number>>
  /**
   * Decides as `limit`, for a request whose cost is not known yet: every rule that matches is charged `cost` at once, or the
   * value of the dimension that it takes its cost from (from 1; `cost` where there is none), or none is, and `settle` puts the actual cost in its place. A rule in which the id has a live reservation already is
   * charged nothing. What expires unsettled stays charged. One in shadow that would refuse reserves nothing.
   * @returns a decision whose `id` is the reservation's, `null` where it was refused
   * @throws TidegateError (rejects) as `limit`, and `ERR_INVALID_OPTION`
   */
  reserve(descriptor: Request, options: ReserveOptions): Promise<Decision>
  /**
   * Ends the reservation of this id with its actual cost, in every rule that matches: what was too much is given back,
   * as by `refund`; what was too little is charged now, even past the limit. Each rule by itself, so that one can fail
   * alone; settling again changes nothing where it had been settled.
   * @param descriptor that of the reservation; a rule that takes its cost from a dimension is settled at the value that is
   *   there now, and at `cost` where there is none
   * @throws TidegateError (rejects), once all rules have been asked, as `limit`; `ERR_INVALID_COST` also where a key would
   * have used more than 4,294,967,295
   */
  settle(descriptor: Request, id: string, options: SettleOptions): Promise<GateSettlement>
  /** Ends a reservation that has come to nothing: as `settle` with a cost of 0 for every rule. */
  cancel(descriptor: Request, id: string): Promise<GateSettlement>
  /** Ends the lease of this id in every `concurrency` rule that matches. @returns false where there was none left */
  release(descriptor: Request, id: string): Promise<boolean>
  /** The lease of this id lives on for its whole time from now. @returns false where it had ended in any of the rules */
  renew(descriptor: Request, id: string): Promise<boolean>
  /**
   * The live admissions of a `sliding-log`, or the live leases of `concurrency`, oldest first.
   * `rule` names one of the rules that match; it is needed where several do.
   */
  entries(descriptor: Request, options?: { rule?: string }): Promise<Entry[]>
  /**
   * Refuses the key of this request in one rule for so long from now, whatever it has used; instead of a block that
   * there is. `rule` is needed where several match, so that nobody blocks more than he meant.
   */
  block(descriptor: Request, duration: Duration | typeof FOREVER, options?: { rule?: string }): Promise<void>
  /** Ends a block, and forgets the penalties of the key. @returns whether it was blocked */
  unblock(descriptor: Request, options?: { rule?: string }): Promise<boolean>
  /** Forgets the keys of this request, their reservations too, in every rule that matches it; each by itself, so that one can fail alone. */
  reset(descriptor: Request): Promise<void>
  /** How many requests passed each rule by (peeks aside) because a dimension was missing; of rules that are there. */
  skipped(): ReadonlyMap<string, number>
  /** Further calls are errors, and so are those that wait. Closes the store if the gate made it. */
  close(): Promise<void>
}
