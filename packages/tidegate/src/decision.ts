/** Why a decision is what it is. */
export type Reason =
  | 'ok'
  | 'no_rule'
  | 'over_limit'
  | 'cost_exceeds_limit'
  | 'blocked'
  | 'missing_dimension'
  | 'store_unavailable'

/**
 * Where a decision was made. `store`: by the store. All others in this process. `local`: because the store did not answer.
 * `denied-cache`: the store had just refused the same. `lease`: of permits that the store has granted in advance. `coarse`:
 * so many requests were on their way to the store that this one could not have been admitted.
 */
export type Source = (typeof SOURCES)[number]

export const SOURCES = ['store', 'local', 'denied-cache', 'lease', 'coarse'] as const

/**
 * How the rules of one request were charged. `strict`: all or none, in one step. `compensated`: their keys lie in
 * several slots of a cluster; never over-admitted, and what a refused request had charged for a moment was given back.
 */
export type Atomicity = 'strict' | 'compensated'

/** One limit's own figures within a decision. */
export interface RuleDecision {
  /** The rule's name. */
  readonly rule: string
  /** Whether this rule alone would have admitted the request. */
  readonly allowed: boolean
  /** The most that the rule admits in a window; of a token bucket its capacity. */
  readonly limit: number
  /** Admitted cost that counts at `at`. A refused request adds nothing. */
  readonly used: number
  /** `max(0, limit - used)` */
  readonly remaining: number
  /**
   * Milliseconds. 0 if allowed. Refused: the smallest d such that the same request, alone, is
   * admitted at now + d and not at now + d - 1; `null` if it never is by itself: its cost exceeds the
   * limit, a quota is used up, the key is blocked for ever.
   */
  readonly retryAfterMs: number | null
  /** Milliseconds until the key is as if untouched, without further traffic. Untouched: 0; `null` if never. */
  readonly resetAfterMs: number | null
  readonly reason: Reason
  /** Milliseconds since the epoch on the store's clock. */
  readonly at: number
  /** Of a rule with `shards`: which of them these figures are of, from 0. */
  readonly shard?: number
  /** The rule is in shadow: these figures had no part in the decision. */
  readonly shadow?: true
  /** The rule let the request pass without counting it; `limit` and `remaining` are 4,294,967,295. */
  readonly unlimited?: true
}

/**
 * The answer to one request. The figures are those of the deciding rule: on refusal the one with
 * the longest wait, else the one with the smallest share of its limit remaining.
 */
export interface Decision extends Omit<RuleDecision, 'rule' | 'shard' | 'shadow' | 'unlimited'> {
  /** The deciding rule's name, never one in shadow; `null` where no rule matched. */
  readonly rule: string | null
  /** Each matching rule's own figures, in the order of the rules; where a dimension is missing, of those alone that need no store. */
  readonly rules: readonly RuleDecision[]
  readonly source: Source
  /**
   * The request's id, where one of its rules keeps it: the lease of a `concurrency` rule, the entry of a `sliding-log`. Of
   * a reservation its id, whatever the rules; `null` where it was refused.
   */
  readonly id: string | null
  readonly atomicity: Atomicity
  /** A fingerprint of the rules that decided; the same wherever the same rules are loaded. */
  readonly version: string
}

/** The largest limit and the largest cost: what an unlimited request has left. */
export const MAX_COUNT = 2 ** 32 - 1

/** What figures say of the rule that they belong to. */
interface Limited {
  readonly name: string
  readonly limit: number
}

/** The figures of a rule that admits the request. `used` is with its cost, once that is charged. */
export function admitted(rule: Limited, used: number, resetAfterMs: number | null, at: number): RuleDecision {
  const { name, limit } = rule
  const remaining = limit > used ? limit - used : 0
  return { rule: name, allowed: true, limit, used, remaining, retryAfterMs: 0, resetAfterMs, reason: 'ok', at }
}

/** The figures of a rule that refuses the request. `retryAfterMs` is `null` where it is never admitted by itself. */
export function refused(
  rule: Limited,
  cost: number,
  used: number,
  retryAfterMs: number | null,
  resetAfterMs: number | null,
  at: number,
): RuleDecision {
  const { name, limit } = rule
  const remaining = limit > used ? limit - used : 0
  const reason = cost > limit ? 'cost_exceeds_limit' : 'over_limit'
  return { rule: name, allowed: false, limit, used, remaining, retryAfterMs, resetAfterMs, reason, at }
}

/** The figures of a rule that lets the request pass without counting it. */
export function unlimited({ name }: Pick<Limited, 'name'>, at: number): RuleDecision {
  const limit = MAX_COUNT
  const waits = { retryAfterMs: 0, resetAfterMs: 0 }
  return { rule: name, allowed: true, limit, used: 0, remaining: limit, ...waits, reason: 'ok', at, unlimited: true }
}

/** The figures of a rule that refuses the request for want of a dimension: there is no key to count by, and no wait helps. */
export function missingDimension({ name, limit }: Limited, at: number): RuleDecision {
  const waits = { retryAfterMs: null, resetAfterMs: null }
  return { rule: name, allowed: false, limit, used: 0, remaining: 0, ...waits, reason: 'missing_dimension', at }
}

/** What stands of a decision besides its figures. */
export interface DecisionContext {
  readonly version: string
  readonly id: string | null
  readonly atomicity: Atomicity
  /** Default: the store. */
  readonly source?: Source
}

/** The decision of a request that one rule matched. */
export function decideByOne(
  figures: RuleDecision,
  { version, id, atomicity, source = 'store' }: DecisionContext,
): Decision {
  const { rule, allowed, limit, used, remaining, retryAfterMs, resetAfterMs, reason, at } = figures
  return {
    allowed,
    limit,
    used,
    remaining,
    retryAfterMs,
    resetAfterMs,
    reason,
    source,
    rule,
    rules: [figures],
    at,
    id,
    atomicity,
    version,
  }
}

/** The decision of a request that several rules matched, whose figures are in their order. */
export function decideByAll(figures: readonly RuleDecision[], context: DecisionContext): Decision {
  return { ...decideByOne(figures.reduce(tighter), context), rules: figures }
}

/** The same where some of them can be in shadow: those have no part in it. */
export function decideByEnforced(figures: readonly RuleDecision[], context: DecisionContext): Decision {
  const enforced = figures.filter(({ shadow }) => shadow !== true)
  if (enforced.length > 0) return { ...decideByAll(enforced, context), rules: figures }
  const [first] = figures as readonly [RuleDecision, ...RuleDecision[]]
  return { ...decideByNone(first.at, context.version), ...context, rules: figures }
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
    id: null,
    atomicity: 'strict',
    version,
  }
}

/** The one of two figures that decides; the first where they are equal. */
function tighter(first: RuleDecision, second: RuleDecision): RuleDecision {
  if (!first.allowed || !second.allowed) return waitOf(second) > waitOf(first) ? second : first
  return shareOf(second) < shareOf(first) ? second : first
}

function waitOf({ retryAfterMs }: RuleDecision): number {
  return retryAfterMs ?? Number.POSITIVE_INFINITY
}

function shareOf({ limit, remaining, unlimited }: RuleDecision): number {
  // What counts decides before what does not, even where nothing is used of it.
  if (unlimited === true) return Number.POSITIVE_INFINITY
  return limit === 0 ? 0 : remaining / limit
}

/** Figures of admissions that have charged nothing, because what they ask for was held already. */
const uncharged = new WeakSet<RuleDecision>()

/** Marks the figures of a lease that was held before: nobody may give it back who has only asked for it again. */
export function heldBefore(figures: RuleDecision): RuleDecision {
  uncharged.add(figures)
  return figures
}

/** Whether an admission has charged nothing. */
export function wasHeldBefore(figures: RuleDecision): boolean {
  return uncharged.has(figures)
}
