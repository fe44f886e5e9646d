import type { Atomicity } from './decision.ts'
import { invalid, TidegateError } from './errors.ts'
import { checkKey } from './key.ts'
import { asksNoMoreThan, canMeetBoth } from './matching/match.ts'
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

/** Two rules that one request can match and whose keys need not lie in one slot of a cluster, by their places. */
export interface ApartRules {
  readonly first: number
  readonly second: number
}

/** For each rule that cannot always be decided in one step with all before it, the first of those. */
export function apartInCluster(rules: readonly Rule[]): ApartRules[] {
  return rules.flatMap((rule, second) => {
    const first = rules.findIndex((earlier, i) => i < second && isApart(earlier, rule))
    return first < 0 ? [] : [{ first, second }]
  })
}

/**
 * Refuses rules that a cluster cannot decide in one step.
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function ensureStrict(rules: readonly Rule[]): void {
  const [apart] = apartInCluster(rules)
  if (apart === undefined) return
  const [first, second] = [rules[apart.first], rules[apart.second]] as [Rule, Rule]
  const field = `rules[${apart.second}].key`
  const expected =
    "the same dimensions as every rule that can match together with it, or the gate's slot dimension in both, and no shards: " +
    "with atomicity 'strict' their keys must lie in one slot of the cluster"
  const message = `${field}: expected ${expected}; ${second.name} and ${first.name} can lie in two`
  throw new TidegateError('ERR_INVALID_OPTION', message, { field, expected })
}

function isApart(first: Rule, second: Rule): boolean {
  if (isNeverCounted(first) || isNeverCounted(second)) return false
  if (first.shards === 1 && second.shards === 1 && shareSlots(first, second)) return false
  return canMeetBoth(first.match, second.match) && !skipsAllOf(first, second) && !skipsAllOf(second, first)
}

/** Unlimited, whatever the request. */
function isNeverCounted({ unlimited, overrides }: Rule): boolean {
  return unlimited && overrides.every(({ limit }) => limit === undefined)
}

/** Whether the one skips whatever the other matches. */
function skipsAllOf({ skip }: Rule, { match }: Rule): boolean {
  return skip.some((one) => asksNoMoreThan(one, match))
}

function shareSlots(first: Rule, second: Rule): boolean {
  if (first.slot >= 0 || second.slot >= 0) return first.slot >= 0 && second.slot >= 0
  return first.key.length === second.key.length && first.key.every((dimension, i) => dimension === second.key[i])
}
