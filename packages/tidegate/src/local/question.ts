import { admissionBy } from '../admission.ts'
import type { Decision, RuleDecision } from '../decision.ts'
import { joinKey } from '../key.ts'
import { hasLeases, type Rule } from '../rule.ts'
import type { Check, Mode, Store } from '../stores/store.ts'

/** One request, as a waiting line puts it to the store: as often as it takes, always the same. */
export interface Question {
  /** What the request is called in the logs and leases of its rules; `null` where none keeps ids. */
  readonly id: string | null
  /** What the request is decided by: one name for each counter. */
  readonly counters: readonly string[]
  ask(mode: Mode): Promise<Decision>
  /** The same request by the rules as they are now. Without it: they do not change. @throws TidegateError as `limit` */
  renewed?(): Question
  /** After a refusal: how long nothing but a refund can admit the request, in ms; infinite if it never is by itself. */
  leastWaitMs(refusal: Decision): number
  /** Gives back what an admission has charged for which nobody waits any more. */
  giveBack(admission: Decision): Promise<void>
}

/** Counts the requests that nothing makes wait: each is a line of its own. */
let unbound = 0

/** The question whether these checks are admitted. */
export function questionOf(
  store: Store,
  checks: readonly Check[],
  answer: (figures: readonly RuleDecision[]) => Decision,
): Question {
  const enforced = checks.filter(({ rule }) => !rule.shadow)
  return {
    id: checks.find((check) => check.id !== undefined)?.id ?? null,
    counters: enforced.length > 0 ? countersOf(enforced) : [`request ${unbound++}`],
    ask: async (mode) => {
      if (checks.length === 0) return answer([])
      return answer(store.decideNow?.(checks, mode) ?? (await store.decide(checks, mode)))
    },
    leastWaitMs: (refusal) =>
      refusal.reason === 'missing_dimension'
        ? Number.POSITIVE_INFINITY
        : Math.max(
            0,
            ...checks.map((check) => (check.rule.shadow ? 0 : leastWaitOf(figuresOf(check, refusal), check.rule))),
          ),
    giveBack: async (admission) => {
      const refunds = checks.map(async (check) => {
        const { rule, key, cost, id } = check
        const figures = figuresOf(check, admission)
        const of = figures && admissionBy(figures, cost, id)
        if (of !== undefined) await store.refund(rule, key, cost, { ...of, source: admission.source })
      })
      // A refund that fails leaves its charge until the window has passed: there is nobody left to tell.
      await Promise.allSettled(refunds)
    },
  }
}

/** The name of each of these counters, among those of one limiter or gate. */
export function countersOf(counters: readonly Pick<Check, 'rule' | 'key'>[]): string[] {
  return counters.map(({ rule, key }) => `${rule.name}:${joinKey(key)}`)
}

/** The figures of a check: a decision can have those of other rules between them. */
function figuresOf({ rule }: Check, { rules }: Decision): RuleDecision | undefined {
  return rules.find((figures) => figures.rule === rule.name)
}

function leastWaitOf(figures: RuleDecision | undefined, rule: Rule): number {
  if (figures === undefined) return 0
  const { allowed, reason, retryAfterMs } = figures
  if (retryAfterMs === null) return Number.POSITIVE_INFINITY
  // The wait of a lease ends with its expiry at the latest; its holder is expected to release it before.
  // Another shard can have room before.
  return allowed || ((hasLeases(rule) || rule.shards > 1) && reason === 'over_limit') ? 0 : retryAfterMs
}
