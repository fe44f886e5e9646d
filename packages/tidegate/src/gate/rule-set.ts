import type { Descriptor } from '../descriptor.ts'
import type { FailurePolicy } from '../failure-policy.ts'
import { notify, type Observer } from '../observer.ts'
import { compileRules, type Rule, type RuleOptions } from '../rule.ts'
import { versionOf } from '../rule-version.ts'
import { bySlot, ensureStrict } from '../slots.ts'
import { type Applied, type Counted, RequestRules } from './request-rules.ts'
import { changesBetween, type RuleChanges, snapshot, type Written } from './rule-changes.ts'

/** What holds for all the rules that a gate ever has: where their keys lie, and what they do if they do not say so. */
export interface CommonRules {
  /** The dimension that alone decides the slot, if there is one. */
  readonly slot: unknown
  /** True where rules that can lie in two slots are refused. */
  readonly isStrict: boolean
  /** What a rule does while the store does not answer. */
  readonly onStoreFailure: FailurePolicy
  /** Is told of rules that are refused. */
  readonly observer: Observer
}

/** Rules that are to take the place of others. @throws TidegateError as `createGate`; the observer is told */
export function renewedRules(options: readonly RuleOptions[], common: CommonRules): RuleSet {
  try {
    return new RuleSet(options, common)
  } catch (error) {
    notify(common.observer, 'configRefusal', { source: 'update', error })
    throw error
  }
}

/** The rules of a gate at one time. A request is decided by one such set from its beginning to its end. */
export class RuleSet {
  readonly rules: readonly Rule[]
  readonly version: string
  readonly #options: readonly RuleOptions[]
  readonly #met: RequestRules

  /** @throws TidegateError as `createGate`, whatever is wrong with the rules */
  constructor(options: readonly RuleOptions[], { slot, isStrict, onStoreFailure }: CommonRules) {
    this.rules = bySlot(compileRules(options, 'rules', onStoreFailure), slot)
    if (isStrict) ensureStrict(this.rules)
    this.version = versionOf(this.rules)
    // The caller may go on writing in what it gave, and hand it in again.
    this.#options = snapshot(options)
    this.#met = new RequestRules(this.rules)
  }

  /**
   * What the rules that match ask of a request, in their order.
   * @throws TidegateError `ERR_INVALID_DESCRIPTOR`, `ERR_INVALID_KEY`, `ERR_INVALID_COST`, `ERR_INVALID_LIMIT`
   */
  applied(descriptor: Descriptor): Applied {
    return this.#met.applied(descriptor)
  }

  /** The counters of a request for whoever does something to them, whatever its limit and its cost are. */
  counters(descriptor: Descriptor): Counted[] {
    return this.#met.counters(descriptor)
  }

  /** What these rules change of earlier ones. */
  changesSince(earlier: RuleSet): RuleChanges {
    return { version: this.version, ...changesBetween(earlier.#byName(), this.#byName()) }
  }

  #byName(): Map<string, Written> {
    return new Map(this.rules.map((rule, i) => [rule.name, { rule, options: this.#options[i] as RuleOptions }]))
  }
}
