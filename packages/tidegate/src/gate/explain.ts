import { checkDescriptor, type Descriptor, valueIn } from '../descriptor.ts'
import type { CompiledCondition } from '../matching/condition.ts'
import { type Match, matches } from '../matching/match.ts'
import { costIn } from '../request.ts'
import type { Rule } from '../rule.ts'
import { GateRule } from './gate-rule.ts'

/** Whether a rule counts a request, and why or why not. */
export type Explanation = Applies | Misses | Skips

/** A rule that counts the request, or lets it pass without a limit; unless another one `refuses` it, and none counts it. */
interface Applies {
  readonly rule: string
  readonly applies: true
  /** What it is counted under: the dimensions of the rule's key and their values, in the order of the key. */
  readonly key: Descriptor
  /** The limit that this request has; `null`: none, it passes and is not counted. */
  readonly limit: number | null
  /** Which of the rule's overrides the request meets, from 0; `null` for none. */
  readonly override: number | null
  /** The cost for this rule, where it comes from a dimension; `null`: that of the request. */
  readonly cost: number | null
  /** Whether it is only tried: it counts the request, and refuses nobody. */
  readonly shadow: boolean
  /** Under how many keys of the store it is counted, each with its part of the limit; left out where it is one. */
  readonly shards?: number
  /** `'leased'` where permits are taken in batches and decided by in the process; left out where the store decides. */
  readonly mode?: 'leased'
  /** By what share of the limit a window may be exceeded, where it may. */
  readonly slack?: number
}

/** A rule that does not count the request. */
interface Misses {
  readonly rule: string
  readonly applies: false
  /**
   * `condition`: a condition of its match that the request does not meet, the first one in their order.
   * `missing_dimension`: it matches, but the request lacks a dimension of its key, or a required one of its cost.
   */
  readonly because: 'condition' | 'missing_dimension'
  readonly dimension: string
  /** The condition; `null` for a missing dimension. */
  readonly wanted: CompiledCondition | null
  /** The value that the request has there; `null` where it has none. */
  readonly found: string | null
  /** True where the request is refused for what it lacks. */
  readonly refuses: boolean
}

/** A rule that matches, and skips the request. */
interface Skips {
  readonly rule: string
  readonly applies: false
  readonly because: 'skip'
  /** The conditions that the request meets, the first set of them. */
  readonly skipped: Match
}

/**
 * Says of each rule whether it counts a request; asks no store, and counts nothing.
 * @param rules checked rules, such as those of a gate
 * @returns one explanation for each rule, in their order
 * @throws TidegateError `ERR_INVALID_DESCRIPTOR`, `ERR_INVALID_KEY`, `ERR_INVALID_COST`, `ERR_INVALID_LIMIT`
 */
export function explain(rules: readonly Rule[], descriptor: Descriptor): Explanation[] {
  checkDescriptor(descriptor)
  return rules.map((rule) => explainOne(rule, descriptor))
}

function explainOne(rule: Rule, descriptor: Descriptor): Explanation {
  const { name, match, skip, key, shadow } = rule
  const failing = match.find(([dimension, condition]) => !condition.matches(valueIn(descriptor, dimension)))
  if (failing !== undefined) {
    const [dimension, wanted] = failing
    const found = valueIn(descriptor, dimension) ?? null
    return { rule: name, applies: false, because: 'condition', dimension, wanted, found, refuses: false }
  }
  const skipped = skip.find((one) => matches(one, descriptor))
  if (skipped !== undefined) return { rule: name, applies: false, because: 'skip', skipped }
  const limited = new GateRule(rule).limited(descriptor)
  const missing = limited && missingIn(limited, descriptor)
  if (missing !== undefined) {
    const refuses = rule.required && !shadow
    const found = { wanted: null, found: null, refuses }
    return { rule: name, applies: false, because: 'missing_dimension', dimension: missing, ...found }
  }
  const override = rule.overrides.findIndex((one) => matches(one.match, descriptor))
  const values = key.flatMap((dimension) => {
    const value = valueIn(descriptor, dimension)
    return value === undefined ? [] : [[dimension, value] as const]
  })
  return {
    rule: name,
    applies: true,
    key: Object.fromEntries(values),
    limit: limited?.limit ?? null,
    override: override < 0 ? null : override,
    cost: limited?.cost === undefined ? null : (costIn(descriptor, limited.cost) ?? 1),
    shadow,
    ...(rule.shards > 1 && { shards: rule.shards }),
    ...(rule.lease && { mode: 'leased' as const }),
    ...(rule.lease && rule.lease.slack > 0 && { slack: rule.lease.slack }),
  }
}

/** A dimension without which the request is not counted. */
function missingIn({ key, cost, required }: Rule, descriptor: Descriptor): string | undefined {
  const needed = required && cost !== undefined ? [...key, cost] : key
  return needed.find((dimension) => valueIn(descriptor, dimension) === undefined)
}
