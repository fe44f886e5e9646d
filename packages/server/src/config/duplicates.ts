import type { RuleOptions } from 'tidegate'
import { compileRule, type Rule } from 'tidegate/store'
import type { Suspicion } from './warning.ts'

/** Rules that count what an earlier one counts, by their places. */
export function duplicatesIn(rules: readonly Rule[], options: readonly RuleOptions[]): Map<number, Suspicion[]> {
  const first = new Map<string, number>()
  const found = new Map<number, Suspicion[]>()
  for (const [i, rule] of rules.entries()) {
    const counted = countedBy(rule, options[i] as RuleOptions)
    const earlier = first.get(counted)
    if (earlier === undefined) first.set(counted, i)
    else found.set(i, [duplicate(rule, rules[earlier] as Rule, earlier)])
  }
  return found
}

function duplicate({ limit }: Rule, earlier: Rule, place: number): Suspicion {
  const other = `rules[${place}] (${earlier.name})`
  if (limit === earlier.limit) {
    return { field: 'name', what: `does the same as ${other}`, advice: 'leave one of the two out' }
  }
  const unreached = limit > earlier.limit ? 'its own larger limit' : `the larger limit of ${show(earlier.limit)} there`
  const what = `counts the same as ${other}, so that ${unreached} is never reached`
  return { field: 'limit', what, advice: 'leave the larger limit out, or count something else' }
}

/** One text for all rules that count the same, however they are named and their dimensions ordered. */
function countedBy(rule: Rule, options: RuleOptions): string {
  const { name, description: _, limit: __, spanMs: ___, slot: ____, match, ...rest } = rule
  const key = rule.key.toSorted()
  // The fingerprint has what the windows of a calendar are, and also the order of the key.
  const { id } = compileRule({ ...options, key }, 'rule')
  const conditions = match.toSorted(([one], [other]) => (one < other ? -1 : 1))
  return JSON.stringify({ ...rest, key, id: id.slice(name.length), match: conditions })
}

function show(value: number): string {
  return value.toLocaleString('en-US')
}
