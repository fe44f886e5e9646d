import type { Decision, RuleDecision } from '../decision.ts'
import type { Rule } from '../rule.ts'

/** Which form of the headers of draft-ietf-httpapi-ratelimit-headers is sent. `draft-8` is the form of all later drafts. */
export type StandardHeaders = 'draft-6' | 'draft-7' | 'draft-8'

/** What `X-RateLimit-Reset` holds: seconds since the epoch, as GitHub has it, or seconds from now, as Reddit has it. */
export type LegacyHeaders = 'epoch' | 'delta'

export interface HeaderOptions {
  /** Default: `draft-8`. `false`: none. */
  readonly standardHeaders?: StandardHeaders | false
  /** `X-RateLimit-Limit`, `-Remaining` and `-Reset` besides. Default: `false`. */
  readonly legacyHeaders?: LegacyHeaders | false
  /** A refusal announces a wait that is longer by this many milliseconds; it decides nothing. Default: 0. */
  readonly laterMs?: number
}

/**
 * The response headers of a decision, after draft-ietf-httpapi-ratelimit-headers. From -08 on `RateLimit-Policy` names
 * every matching rule's limit and window, and `RateLimit` what is left of each; the forms of -06 and -07 have the figures
 * of the deciding rule. `Retry-After` (RFC 9110, whole seconds, at least 1) stands on a refusal that can end. On a
 * refusal the reset announced for a refusing rule is its wait, so that neither is earlier than the other.
 * Rules in shadow bind nobody and are left out, and so are those without limit for this request.
 *
 * @param rules the rules that decided, for their windows
 * @returns header names and values; none where no rule limits the request
 */
export function rateLimitHeaders(
  decision: Decision,
  rules: readonly Rule[],
  options: HeaderOptions = {},
): Record<string, string> {
  const told = decision.rules.every(isTold) ? decision.rules : decision.rules.filter(isTold)
  if (told.length === 0) return {}
  const { standardHeaders = 'draft-8', legacyHeaders = false, laterMs = 0 } = options
  const headers: Record<string, string> = {}
  if (standardHeaders !== false) STANDARD[standardHeaders](headers, decision, told, namesOf(rules), laterMs)
  if (legacyHeaders !== false) legacy(headers, decision, legacyHeaders, laterMs)
  if (!decision.allowed && decision.retryAfterMs !== null) {
    headers['Retry-After'] = String(seconds(decision.retryAfterMs + laterMs))
  }
  return headers
}

type Rules = ReadonlyMap<string, Rule>
type Write = (
  headers: Record<string, string>,
  decision: Decision,
  told: readonly RuleDecision[],
  rules: Rules,
  laterMs: number,
) => void

/** Whether a rule binds the request: one in shadow does not, nor one without limit. */
function isTold({ shadow, unlimited }: RuleDecision): boolean {
  return shadow !== true && unlimited !== true
}

const STANDARD: Record<StandardHeaders, Write> = {
  'draft-6': (headers, decision, told, rules, laterMs) => {
    headers['RateLimit-Policy'] = numberedPolicies(told, rules)
    headers['RateLimit-Limit'] = String(decision.limit)
    headers['RateLimit-Remaining'] = String(decision.remaining)
    const reset = resetOf(decision, laterMs)
    if (reset !== undefined) headers['RateLimit-Reset'] = String(reset)
  },
  'draft-7': (headers, decision, told, rules, laterMs) => {
    const reset = resetOf(decision, laterMs)
    headers['RateLimit-Policy'] = numberedPolicies(told, rules)
    headers['RateLimit'] =
      `limit=${decision.limit}, remaining=${decision.remaining}${reset === undefined ? '' : `, reset=${reset}`}`
  },
  'draft-8': (headers, _decision, told, rules, laterMs) => {
    const [only] = told
    if (told.length === 1) {
      headers['RateLimit-Policy'] = namedPolicy(only as RuleDecision, rules)
      headers['RateLimit'] = remaining(only as RuleDecision, laterMs)
    } else {
      headers['RateLimit-Policy'] = told.map((figures) => namedPolicy(figures, rules)).join(', ')
      headers['RateLimit'] = told.map((figures) => remaining(figures, laterMs)).join(', ')
    }
  },
}

function legacy(headers: Record<string, string>, decision: Decision, form: LegacyHeaders, laterMs: number): void {
  headers['X-RateLimit-Limit'] = String(decision.limit)
  headers['X-RateLimit-Remaining'] = String(decision.remaining)
  const reset = resetOf(decision, laterMs)
  if (reset === undefined) return
  const ms = (decision.allowed ? decision.resetAfterMs : (decision.retryAfterMs as number) + laterMs) as number
  headers['X-RateLimit-Reset'] = String(form === 'delta' ? reset : Math.ceil((decision.at + ms) / 1000))
}

const byName = new WeakMap<readonly Rule[], Rules>()

/** The rules by their names, looked up once for a list of them. */
function namesOf(rules: readonly Rule[]): Rules {
  const known = byName.get(rules)
  if (known?.size === rules.length) return known
  const named = new Map(rules.map((rule) => [rule.name, rule]))
  byName.set(rules, named)
  return named
}

/** The time in which the limit is what is admitted, ms; 0 where there is none: the size of a bucket says nothing of its rate. */
function quotaWindow({ algorithm, windowMs, refillUnits, tokenUnits }: Rule, limit: number): number {
  if (algorithm === 'concurrency') return 0
  if (algorithm === 'token-bucket') return (windowMs / tokenUnits) * refillUnits === limit ? windowMs : 0
  return windowMs
}

/** `"name";q=100;w=60`: the window in whole seconds, left out where it is none. */
function namedPolicy(figures: RuleDecision, rules: Rules): string {
  return `"${figures.rule}";q=${figures.limit}${windowParameter(figures, rules)}`
}

/** `100;w=60, 1000;w=86400`: what policies looked like before they had names. */
function numberedPolicies(told: readonly RuleDecision[], rules: Rules): string {
  return told.map((figures) => `${figures.limit}${windowParameter(figures, rules)}`).join(', ')
}

function windowParameter({ rule: name, limit }: RuleDecision, rules: Rules): string {
  const rule = rules.get(name)
  const windowMs = rule === undefined ? 0 : quotaWindow(rule, limit)
  return windowMs >= 1000 && windowMs % 1000 === 0 ? `;w=${windowMs / 1000}` : ''
}

/** `"name";r=50;t=30`: what remains, and the seconds until it is whole again, or until a retry where refused. */
function remaining(figures: RuleDecision, laterMs: number): string {
  const reset = resetOf(figures, laterMs)
  return `"${figures.rule}";r=${figures.remaining}${reset === undefined ? '' : `;t=${reset}`}`
}

/** Seconds until the limit is whole again, or until a retry where refused; undefined where that never comes. */
function resetOf(figures: Pick<Decision, 'allowed' | 'retryAfterMs' | 'resetAfterMs'>, laterMs: number) {
  if (figures.allowed) return figures.resetAfterMs === null ? undefined : Math.ceil(figures.resetAfterMs / 1000)
  return figures.retryAfterMs === null ? undefined : seconds(figures.retryAfterMs + laterMs)
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}
