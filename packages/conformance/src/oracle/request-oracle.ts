import type { Admission, Mode } from 'tidegate/store'
import { BlockedCounter } from './blocked-counter.ts'
import type { LimitedRule, Verdict } from './counter.ts'
import { counterOf } from './counter-of.ts'

/** One limit of a request: the rule as it is at that step, the name of its counter, and the cost where the request's is not the rule's. */
export interface OracleCheck {
  readonly rule: LimitedRule
  readonly counter: string
  readonly cost?: number | undefined
}

/** Requests over several rules by brute force: all are charged, or none; of those in shadow the ones that admit it, too. */
export class RequestOracle {
  readonly #counters = new Map<string, BlockedCounter>()

  decide(checks: readonly OracleCheck[], mode: Mode, requested: number, clock: number, id: string): Verdict[] {
    const asked = checks.map((check) => {
      const [counter, cost] = [this.of(check), check.cost ?? requested]
      return { counter, cost, admits: counter.admits(cost, clock, id), isShadow: check.rule.shadow === true }
    })
    const admitted = asked.every(({ admits, isShadow }) => admits || isShadow)
    const verdicts = asked.map(({ counter, cost, admits }) => {
      return counter.verdict(cost, admitted && admits ? cost : 0, clock, id)
    })
    for (const { counter, cost, admits } of asked) {
      if (mode === 'peek' || cost === 0) continue
      counter.comeRight(clock)
      if (admitted && admits) counter.admit(cost, clock, id)
      else if (!admits) counter.refuse(cost, clock, id)
    }
    return verdicts
  }

  refund(check: OracleCheck, cost: number, clock: number, of: Admission | undefined): number {
    return this.of(check).refund(cost, clock, of)
  }

  reset({ counter }: OracleCheck): void {
    this.#counters.delete(counter)
  }

  of({ rule, counter }: OracleCheck): BlockedCounter {
    const known = this.#counters.get(counter) ?? new BlockedCounter(counterOf(rule), rule)
    this.#counters.set(counter, known)
    known.follow(rule)
    return known
  }
}
