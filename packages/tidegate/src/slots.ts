import type { Atomicity } from './decision.ts'
import { invalid, TidegateError } from './errors.ts'
import { checkKey } from './key.ts'
import { canMeetBoth } from './matching/match.ts'
import type { Rule } from './rule.ts'

/** The ways in which a gate can be asked to decide several rules together. */
const ATOMICITIES: readonly Atomicity[] = ['strict', 'compensated']

/** @throws TidegateError `ERR_INVALID_OPTION` */
export function checkAtomicity(value: unknown): Atomicity {
  const found = ATOMICITIES.find((one) => one === (value ?? 'compensated'))
  if (found === undefined) throw invalid('ERR_INVALID_OPTION', 'atomicity', `one of ${ATOMICITIES.join(', ')}`, value)
  return found
}

/**
 * Rules whose Redis keys lie in the slot of one dimension's value, where that dimension is in their key.
 * @throws TidegateError `ERR_INVALID_KEY`, or `ERR_INVALID_OPTION` where no rule has it in its key
 */
export function bySlot(rules: readonly Rule[], slot: unknown): Rule[] {
  if (slot === undefined) return [...rules]
  const dimension = checkKey(slot, 'slot')
  const placed = rules.map((rule): Rule => ({ ...rule, slot: rule.key.indexOf(dimension) }))
  if (placed.some((rule) => rule.slot >= 0)) return placed
  throw invalid('ERR_INVALID_OPTION', 'slot', 'a dimension that is in the key of a rule', slot)
}

/**
 * Refuses rules that a cluster cannot decide in one step: two that one request can match, whose keys
 * need not lie in one slot.
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function ensureStrict(rules: readonly Rule[]): void {
  for (const [i, second] of rules.entries()) {
    const first = rules.slice(0, i).find((rule) => canMeetBoth(rule.match, second.match) && !shareSlots(rule, second))
    if (first === undefined) continue
    const field = `rules[${i}].key`
    const expected =
      "the same dimensions as every rule that can match together with it, or the gate's slot dimension in both: " +
      "with atomicity 'strict' their keys must lie in one slot of the cluster"
    const message = `${field}: expected ${expected}; ${second.name} and ${first.name} can lie in two`
    throw new TidegateError('ERR_INVALID_OPTION', message, { field, expected })
  }
}

function shareSlots(first: Rule, second: Rule): boolean {
  if (first.slot >= 0 || second.slot >= 0) return first.slot >= 0 && second.slot >= 0
  return first.key.length === second.key.length && first.key.every((dimension, i) => dimension === second.key[i])
}
