import type { Descriptor } from './descriptor.ts'
import { RuleIndex } from './matching/rule-index.ts'
import { compileRules, type Rule, type RuleOptions, versionOf } from './rule.ts'
import { changesBetween, type RuleChanges, snapshot, type Written } from './rule-changes.ts'
import { bySlot, ensureStrict } from './slots.ts'

/** Where the keys of the rules of a gate lie; the same for all the rules that it ever has. */
export interface Placement {
  /** The dimension that alone decides the slot, if there is one. */
  readonly slot: unknown
  /** True where rules that can lie in two slots are refused. */
  readonly isStrict: boolean
}

/** The rules of a gate at one time. A request is decided by one such set from its beginning to its end. */
export class RuleSet {
  readonly rules: readonly Rule[]
  readonly version: string
  readonly #options: readonly RuleOptions[]
  readonly #index: RuleIndex<Rule>

  /** @throws TidegateError as `createGate`, whatever is wrong with the rules */
  constructor(options: readonly RuleOptions[], { slot, isStrict }: Placement) {
    this.rules = bySlot(compileRules(options), slot)
    if (isStrict) ensureStrict(this.rules)
    this.version = versionOf(this.rules)
    // The caller may go on writing in what it gave, and hand it in again.
    this.#options = snapshot(options)
    this.#index = new RuleIndex(this.rules)
  }

  /** The rules that match, in their order. */
  matching(descriptor: Descriptor): Rule[] {
    return this.#index.matching(descriptor)
  }

  /** What these rules change of earlier ones. */
  changesSince(earlier: RuleSet): RuleChanges {
    return { version: this.version, ...changesBetween(earlier.#byName(), this.#byName()) }
  }

  #byName(): Map<string, Written> {
    return new Map(this.rules.map((rule, i) => [rule.name, { rule, options: this.#options[i] as RuleOptions }]))
  }
}
