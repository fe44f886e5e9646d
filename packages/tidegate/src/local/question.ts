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

/** The question whether these checks are admitted. */
export function questionOf(
  store: Store,
  checks: readonly Check[],
  answer: (figures: readonly RuleDecision[]) => Decision,
): Question {
  return {
    id: checks.find((check) => check.id !== undefined)?.id ?? null,
    counters: countersOf(checks),
    ask: async (mode) => answer(checks.length === 0 ? [] : await store.decide(checks, mode)),
    leastWaitMs: ({ rules }) => Math.max(...rules.map((figures, i) => leastWaitOf(figures, checks[i]?.rule as Rule))),
    giveBack: async ({ rules }) => {
      const refunds = checks.map(({ rule, key, cost, id }, i) => {
        const figures = rules[i]
        const of = figures === undefined ? undefined : admissionBy(figures, cost, id)
        return of === undefined ? undefined : store.refund(rule, key, cost, of)
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

function leastWaitOf({ allowed, reason, retryAfterMs }: RuleDecision, rule: Rule): number {
  if (retryAfterMs === null) return Number.POSITIVE_INFINITY
  // The wait of a lease ends with its expiry at the latest; its holder is expected to release it before.
  return allowed || (hasLeases(rule) && reason === 'over_limit') ? 0 : retryAfterMs
}
