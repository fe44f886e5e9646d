import { checkDescriptor, type Descriptor, valueIn } from './descriptor.ts'
import type { CompiledCondition } from './matching/condition.ts'
import type { Rule } from './rule.ts'

/** Whether a rule counts a request, and why or why not. */
export type Explanation = Applies | Misses

/** A rule that counts the request. */
interface Applies {
  readonly rule: string
  readonly applies: true
  /** What it is counted under: the dimensions of the rule's key and their values, in the order of the key. */
  readonly key: Descriptor
}

/** A rule that does not count the request. */
interface Misses {
  readonly rule: string
  readonly applies: false
  /**
   * `condition`: a condition of its match that the request does not meet, the first one in their order.
   * `missing_dimension`: it matches, but the request lacks a dimension of its key.
   */
  readonly because: 'condition' | 'missing_dimension'
  readonly dimension: string
  /** The condition; `null` for a missing dimension. */
  readonly wanted: CompiledCondition | null
  /** The value that the request has there; `null` where it has none. */
  readonly found: string | null
}

/**
 * Says of each rule whether it counts a request; asks no store, and counts nothing.
 * @param rules checked rules, such as those of a gate
 * @returns one explanation for each rule, in their order
 * @throws TidegateError `ERR_INVALID_DESCRIPTOR`, `ERR_INVALID_KEY`
 */
export function explain(rules: readonly Rule[], descriptor: Descriptor): Explanation[] {
  checkDescriptor(descriptor)
  return rules.map((rule) => explainOne(rule, descriptor))
}

function explainOne({ name: rule, match, key }: Rule, descriptor: Descriptor): Explanation {
  const failing = match.find(([dimension, condition]) => !condition.matches(valueIn(descriptor, dimension)))
  if (failing !== undefined) {
    const [dimension, wanted] = failing
    const found = valueIn(descriptor, dimension) ?? null
    return { rule, applies: false, because: 'condition', dimension, wanted, found }
  }
  const missing = key.find((dimension) => valueIn(descriptor, dimension) === undefined)
  if (missing !== undefined) {
    return { rule, applies: false, because: 'missing_dimension', dimension: missing, wanted: null, found: null }
  }
  const values = key.map((dimension) => [dimension, valueIn(descriptor, dimension) as string])
  return { rule, applies: true, key: Object.fromEntries(values) as Descriptor }
}
