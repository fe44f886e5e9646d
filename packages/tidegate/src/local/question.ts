import type { Decision, RuleDecision } from '../decision.ts'
import { joinKey } from '../key.ts'
import type { Check, Mode, Store } from '../stores/store.ts'

/** One request, as a waiting line puts it to the store: as often as it takes, always the same. */
export interface Question {
  /** What the request is called in the logs and leases of its rules; `null` where none keeps ids. */
  readonly id: string | null
  ask(mode: Mode): Promise<Decision>
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
    ask: async (mode) => answer(await store.decide(checks, mode)),
    giveBack: async ({ rules }) => {
      const refunds = checks.map(({ rule, key, cost, id }, i) =>
        store.refund(rule, key, cost, { at: rules[i]?.at, id }),
      )
      // A refund that fails leaves its charge until the window has passed: there is nobody left to tell.
      await Promise.allSettled(refunds)
    },
  }
}

/** The name of a set of counters: requests that are decided by the same ones wait in one line. */
export function lineOf(checks: readonly Check[]): string {
  return JSON.stringify(checks.map(({ rule, key }) => [rule.name, joinKey(key)]))
}
