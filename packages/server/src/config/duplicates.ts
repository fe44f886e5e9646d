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
    else {
      const other = rules[earlier] as Rule
      // Two limits tried side by side are what shadow is for.
      if (!rule.shadow || rule.limit === other.limit) found.set(i, [duplicate(rule, other, earlier)])
    }
  }
  return found
}

function duplicate({ limit, unlimited }: Rule, earlier: Rule, place: number): Suspicion {
  const other = `rules[${place}] (${earlier.name})`
  if (limit === earlier.limit || unlimited) {
    return { field: 'name', what: `does the same as ${other}`, advice: 'leave one of the two out' }
  }
  const unreached = limit > earlier.limit ? 'its own larger limit' : `the larger limit of ${show(earlier.limit)} there`
  const what = `counts the same as ${other}, so that ${unreached} is never reached`
  return { field: 'limit', what, advice: 'leave the larger limit out, or count something else' }
}

/** One text for all rules that count the same, however they are named and their dimensions ordered. */
function countedBy(rule: Rule, options: RuleOptions): string {
  const { name, description: _, limit: __, spanMs: ___, slot: ____, written: _____, match, ...rest } = rule
  const key = rule.key.toSorted()
  // The fingerprint has what the windows of a calendar are, and also the order of the key.
  const isSorted = key.every((dimension, i) => dimension === rule.key[i])
  const { id } = isSorted ? rule : compileRule({ ...options, key }, 'rule')
  const overrides = rule.overrides.map((one) => ({ ...one, match: sorted(one.match) }))
  const skip = rule.skip.map((one) => JSON.stringify(sorted(one))).sort()
  return JSON.stringify({ ...rest, overrides, skip, key, id: id.slice(name.length), match: sorted(match) })
}

function sorted(match: Rule['match']): Rule['match'] {
  return match.toSorted(([one], [other]) => (one < other ? -1 : 1))
}

function show(value: number): string {
  return value.toLocaleString('en-US')
}
