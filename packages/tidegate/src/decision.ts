import type { Rule } from './rule.ts'

/** Why a decision is what it is. */
export type Reason = 'ok' | 'no_rule' | 'over_limit' | 'cost_exceeds_limit'

/** Where a decision was made. */
export type Source = 'store'

/** What a store says of one limit, before it is put into words. Times are milliseconds. */
export interface Verdict {
  /** Whether this limit alone admits the request. */
  readonly allowed: boolean
  /** Admitted cost that counts, this request's included if it was admitted. */
  readonly used: number
  /** 0 if allowed; else how long until the same request, alone, is admitted; `null` if never. */
  readonly retryAfterMs: number | null
  /** How long until the key is as if untouched, without further traffic. */
  readonly resetAfterMs: number
  /** The time at which it was decided, on the store's clock. */
  readonly at: number
}

/** One limit's own figures within a decision. */
export interface RuleDecision {
  /** The rule's name. */
  readonly rule: string
  /** Whether this rule alone would have admitted the request. */
  readonly allowed: boolean
  /** The most that the rule admits in a window. */
  readonly limit: number
  /** Admitted cost that counts at `at`. A refused request adds nothing. */
  readonly used: number
  /** `max(0, limit - used)` */
  readonly remaining: number
  /**
   * Milliseconds. 0 if allowed. Refused: the smallest d such that the same request, alone, is
   * admitted at now + d and not at now + d - 1; `null` if it never is (its cost exceeds the limit).
   */
  readonly retryAfterMs: number | null
  /** Milliseconds until the key is as if untouched, without further traffic. Untouched: 0. */
  readonly resetAfterMs: number
  readonly reason: Reason
  /** Milliseconds since the epoch on the store's clock. */
  readonly at: number
}

/**
 * The answer to one request. The figures are those of the deciding rule: on refusal the one with
 * the longest wait, else the one with the smallest share of its limit remaining.
 */
export interface Decision extends Omit<RuleDecision, 'rule'> {
  /** The deciding rule's name; `null` where no rule matched. */
  readonly rule: string | null
  /** Each matching rule's own figures, in the order of the rules. */
  readonly rules: readonly RuleDecision[]
  readonly source: Source
  /** A fingerprint of the rules that decided; the same wherever the same rules are loaded. */
  readonly version: string
}

/** The largest limit and the largest cost: what an unlimited request has left. */
export const MAX_COUNT = 2 ** 32 - 1

/** A decision by one limit. `rules` is made when it is first read: few callers of a single limit read it. */
class SingleDecision implements Decision {
  readonly allowed: boolean
  readonly limit: number
  readonly used: number
  readonly remaining: number
  readonly retryAfterMs: number | null
  readonly resetAfterMs: number
  readonly reason: Reason
  readonly source: Source = 'store'
  readonly rule: string
  readonly at: number
  readonly version: string
  #rules: readonly RuleDecision[] | undefined

  constructor(rule: Rule, verdict: Verdict, version: string) {
    const { limit } = rule
    const { used, allowed, retryAfterMs } = verdict
    this.allowed = allowed
    this.limit = limit
    this.used = used
    this.remaining = limit > used ? limit - used : 0
    this.retryAfterMs = retryAfterMs
    this.resetAfterMs = verdict.resetAfterMs
    this.reason = reasonOf(verdict)
    this.rule = rule.name
    this.at = verdict.at
    this.version = version
  }

  get rules(): readonly RuleDecision[] {
    this.#rules ??= [ruleDecision(this.rule, this.limit, this)]
    return this.#rules
  }

  toJSON(): Decision {
    return { ...this, rules: this.rules }
  }
}

/** The decision of a request that one rule matched. */
export function decideByOne(rule: Rule, verdict: Verdict, version: string): Decision {
  return new SingleDecision(rule, verdict, version)
}

/** The decision of a request that several rules matched; `verdicts` are in the order of `rules`. */
export function decideByAll(rules: readonly Rule[], verdicts: readonly Verdict[], version: string): Decision {
  const figures = verdicts.map((verdict, i) => {
    const rule = rules[i] as Rule
    return ruleDecision(rule.name, rule.limit, verdict)
  })
  const deciding = figures.reduce(tighter)
  return { ...deciding, source: 'store', rules: figures, version }
}

/** The decision of a request that no rule matched: allowed, with nothing to run out of. */
export function decideByNone(at: number, version: string): Decision {
  return {
    allowed: true,
    limit: MAX_COUNT,
    used: 0,
    remaining: MAX_COUNT,
    retryAfterMs: 0,
    resetAfterMs: 0,
    reason: 'no_rule',
    source: 'store',
    rule: null,
    rules: [],
    at,
    version,
  }
}

function ruleDecision(rule: string, limit: number, verdict: Verdict): RuleDecision {
  const { allowed, used, retryAfterMs, resetAfterMs, at } = verdict
  const remaining = Math.max(0, limit - used)
  return { rule, allowed, limit, used, remaining, retryAfterMs, resetAfterMs, reason: reasonOf(verdict), at }
}

function reasonOf(verdict: Verdict): Reason {
  if (verdict.allowed) return 'ok'
  return verdict.retryAfterMs === null ? 'cost_exceeds_limit' : 'over_limit'
}

/** The one of two figures that decides; the first where they are equal. */
function tighter(first: RuleDecision, second: RuleDecision): RuleDecision {
  if (!first.allowed || !second.allowed) return waitOf(second) > waitOf(first) ? second : first
  return shareOf(second) < shareOf(first) ? second : first
}

function waitOf({ retryAfterMs }: RuleDecision): number {
  return retryAfterMs ?? Number.POSITIVE_INFINITY
}

function shareOf({ limit, remaining }: RuleDecision): number {
  return limit === 0 ? 0 : remaining / limit
}
