import type { RuleOptions } from 'tidegate'
import type { Admission, Mode } from 'tidegate/store'
import { BlockedCounter } from './blocked-counter.ts'
import type { Verdict } from './counter.ts'
import { counterOf } from './counter-of.ts'

/** One limit of a request: the rule as it is at that step, and the name of its counter. */
export interface OracleCheck {
  readonly rule: RuleOptions
  readonly counter: string
}

/** Requests over several rules by brute force: all are charged, or none. */
export class RequestOracle {
  readonly #counters = new Map<string, BlockedCounter>()

  decide(checks: readonly OracleCheck[], mode: Mode, cost: number, clock: number, id: string): Verdict[] {
    const counters = checks.map((check) => this.of(check))
    const admitted = counters.every((counter) => counter.admits(cost, clock, id))
    const writes = mode === 'consume' && cost > 0
    const verdicts = counters.map((counter) => counter.verdict(cost, admitted ? cost : 0, clock, id))
    for (const counter of writes ? counters : []) {
      const refuses = !counter.admits(cost, clock, id)
      counter.comeRight(clock)
      if (admitted) counter.admit(cost, clock, id)
      else if (refuses) counter.refuse(cost, clock, id)
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
