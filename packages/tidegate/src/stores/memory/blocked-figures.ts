import type { RuleDecision } from '../../decision.ts'

/** The figures of a key that is blocked for `left` ms more: nothing remains, whatever the rule says. */
export function blocked(figures: RuleDecision, left: number): RuleDecision {
  return { ...penalised({ ...figures, allowed: false }, left), remaining: 0, reason: 'blocked' }
}

/** The figures of a refusal that begins a block of `ms`: the wait is the longer of the two. */
export function penalised(figures: RuleDecision, ms: number): RuleDecision {
  const { retryAfterMs, resetAfterMs } = figures
  return { ...figures, retryAfterMs: longer(retryAfterMs, ms), resetAfterMs: longer(resetAfterMs, ms) }
}

function longer(first: number | null, second: number): number | null {
  return first === null || second === Number.POSITIVE_INFINITY ? null : Math.max(first, second)
}
