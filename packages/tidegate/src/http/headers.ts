import type { Decision, RuleDecision } from '../decision.ts'
import type { Rule } from '../rule.ts'

/**
 * The response headers of a decision, after draft-ietf-httpapi-ratelimit-headers (from -08 on):
 * `RateLimit-Policy` names every matching rule's limit and window, `RateLimit` what is left of each,
 * and `Retry-After` (RFC 9110, whole seconds, at least 1) stands on a refusal that can end. On a
 * refusal the reset announced for a refusing rule is its wait, so that neither is earlier than the other.
 * Rules in shadow bind nobody and are left out, and so are those without limit for this request.
 *
 * @param rules the rules that decided, for their windows
 * @returns header names and values; none where no rule limits the request
 */
export function rateLimitHeaders(decision: Decision, rules: readonly Rule[]): Record<string, string> {
  const told = decision.rules.filter(({ shadow, unlimited }) => shadow !== true && unlimited !== true)
  if (told.length === 0) return {}
  const windows = new Map(rules.map((rule) => [rule.name, quotaWindow(rule)]))
  const headers: Record<string, string> = {
    'RateLimit-Policy': told.map((figures) => policy(figures, windows.get(figures.rule))).join(', '),
    RateLimit: told.map(remaining).join(', '),
  }
  if (!decision.allowed && decision.retryAfterMs !== null)
    headers['Retry-After'] = String(seconds(decision.retryAfterMs))
  return headers
}

/** The time in which the limit is what is admitted, ms; 0 where there is none: the size of a bucket says nothing of its rate. */
function quotaWindow({ algorithm, limit, windowMs, refillUnits, tokenUnits }: Rule): number {
  if (algorithm === 'concurrency') return 0
  if (algorithm === 'token-bucket') return (windowMs / tokenUnits) * refillUnits === limit ? windowMs : 0
  return windowMs
}

/** `"name";q=100;w=60`: the window in whole seconds, left out where it is none. */
function policy({ rule, limit }: RuleDecision, windowMs = 0): string {
  const window = windowMs >= 1000 && windowMs % 1000 === 0 ? `;w=${windowMs / 1000}` : ''
  return `"${rule}";q=${limit}${window}`
}

/** `"name";r=50;t=30`: what remains, and the seconds until it is whole again, or until a retry where refused. */
function remaining(figures: RuleDecision): string {
  const { rule, allowed, retryAfterMs, resetAfterMs } = figures
  const ms = allowed ? resetAfterMs : retryAfterMs
  return `"${rule}";r=${figures.remaining}${ms === null ? '' : `;t=${allowed ? Math.ceil(ms / 1000) : seconds(ms)}`}`
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}
