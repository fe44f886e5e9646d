import type { Match } from './matching/match.ts'
import type { Rule } from './rule.ts'
import { shortHash } from './sha256.ts'

/**
 * A short fingerprint of a set of rules: equal wherever the same rules are loaded in the same order. The order of
 * dimensions in a `match` makes no difference, nor that of conditions in `skip`. Of a function it knows the name alone.
 */
export function versionOf(rules: readonly Rule[]): string {
  return shortHash(rules.map(describe))
}

function describe(rule: Rule): unknown[] {
  const { id, match, limit, refillUnits, tokenUnits, penalty } = rule
  return [id, sorted(match), limit, refillUnits, tokenUnits, penalty, ...particulars(rule)]
}

/** What a plain rule has nothing of: its version is as if there were no such fields. */
function particulars({ overrides, skip, shadow, unlimited, required, cost, limitSource, lease }: Rule): unknown[] {
  const all = {
    ...(overrides.length > 0 && { overrides: overrides.map(({ match, limit }) => [sorted(match), amounts(limit)]) }),
    ...(skip.length > 0 && { skip: skip.map(sorted).sort(byText) }),
    ...(shadow && { shadow }),
    ...(unlimited && { unlimited }),
    ...(required && { required }),
    ...(cost !== undefined && { cost }),
    ...(limitSource !== undefined && { limit: limitSource.described }),
    ...(lease !== undefined && { lease: [lease.slack, lease.lifeMs] }),
  }
  return Object.keys(all).length === 0 ? [] : [all]
}

function amounts(limit: Pick<Rule, 'limit' | 'refillUnits' | 'tokenUnits'> | undefined): unknown {
  return limit === undefined ? 'unlimited' : [limit.limit, limit.refillUnits, limit.tokenUnits]
}

function sorted(match: Match): Match {
  return [...match].sort(byText)
}

function byText(one: unknown, other: unknown): number {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)]
  return first < second ? -1 : first > second ? 1 : 0
}
