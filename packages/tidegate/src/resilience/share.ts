import { reduced, timeFor } from '../refill.ts'
import type { Rule } from '../rule.ts'

/** The share of one of so many instances in a rule: whole units, at least 1 of a limit that is not 0. */
export function shareOf(rule: Rule, instances: number): Rule {
  if (instances === 1) return rule
  const known = shares.get(rule)
  if (known?.instances === instances) return known.rule
  const limit = partOf(rule.limit, instances)
  const share =
    rule.algorithm === 'token-bucket' ? { ...rule, limit, ...refillOf(rule, limit, instances) } : { ...rule, limit }
  shares.set(rule, { instances, rule: share })
  return share
}

/** The share of each rule that was last asked for. */
const shares = new WeakMap<Rule, { readonly instances: number; readonly rule: Rule }>()

function partOf(whole: number, instances: number): number {
  return Math.min(whole, Math.max(1, Math.floor(whole / instances)))
}

/**
 * A share of the tokens that come in each window. Where it has no fraction that can be counted exactly, it is rounded down
 * to fewer and fewer digits until it has.
 */
function refillOf({ windowMs, refillUnits, tokenUnits }: Rule, limit: number, instances: number) {
  const tokens = partOf((windowMs / tokenUnits) * refillUnits, instances)
  for (let step = 1; ; step *= 10) {
    const [refill, token] = reduced(Math.max(1, Math.floor(tokens / step) * step), windowMs)
    if (refill * token > Number.MAX_SAFE_INTEGER) continue
    const units = { refillUnits: refill, tokenUnits: token }
    return { ...units, spanMs: Math.max(1, timeFor(units, limit, 0)) }
  }
}
