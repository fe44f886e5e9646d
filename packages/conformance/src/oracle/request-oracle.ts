import type { RuleOptions } from 'tidegate'
import type { Admission, Mode, Settlement } from 'tidegate/store'
import { BlockedCounter } from './blocked-counter.ts'
import type { Verdict } from './counter.ts'
import { counterOf } from './counter-of.ts'
import { ReservationBook } from './reservation-book.ts'

/** One limit of a request: the rule, and the name of its counter. */
export interface OracleCheck {
  readonly rule: RuleOptions
  readonly counter: string
}

/** Requests over several rules by brute force: all are charged, or none. */
export class RequestOracle {
  readonly #counters = new Map<string, BlockedCounter>()
  readonly #reservations = new ReservationBook()

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

  /** Checks whose reservation is live pass, unless they are blocked; the others are decided as by `decide`. */
  reserve(checks: readonly OracleCheck[], cost: number, clock: number, id: string, expiresIn: number): Verdict[] {
    // Whether a lease is held is for the lease to say.
    const isLive = checks.map(({ rule, counter }) => {
      return rule.algorithm !== 'concurrency' && this.#reservations.find(counter, id, clock) !== undefined
    })
    const counters = checks.map((check) => this.of(check))
    const passes = counters.map((counter, i) =>
      isLive[i] ? !counter.isBlocked(clock) : counter.admits(cost, clock, id),
    )
    const admitted = passes.every(Boolean)
    const verdicts = counters.map((counter, i): Verdict => {
      const asked = isLive[i] ? 0 : cost
      const verdict = counter.verdict(asked, admitted ? asked : 0, clock, id)
      return isLive[i] && passes[i] ? { ...verdict, allowed: true, retryAfterMs: 0, reason: 'ok' } : verdict
    })
    for (const [i, counter] of counters.entries()) {
      if (isLive[i]) continue
      counter.comeRight(clock)
      const at = verdicts[i]?.at as number
      if (!admitted && !passes[i]) counter.refuse(cost, clock, id)
      if (!admitted) continue
      counter.admit(cost, clock, id)
      this.#reservations.add(checks[i]?.counter as string, { id, cost, at, until: clock + expiresIn }, clock)
    }
    return verdicts
  }

  /** The actual cost in the place of what was reserved; an error where more than can be counted would be used. */
  settle(check: OracleCheck, cost: number, clock: number, id: string): Settlement | { error: string } {
    const reservation = this.#reservations.find(check.counter, id, clock)
    if (reservation === undefined) return { settled: false, charged: 0, refunded: 0 }
    const counter = this.of(check)
    const excess = cost - (counter.reserved(reservation.cost, clock, id) ?? cost)
    if (excess > 0 && counter.verdict(0, 0, clock, id).used + excess > 2 ** 32 - 1) return { error: 'too much' }
    this.#reservations.remove(check.counter, id)
    if (excess > 0) counter.charge(excess, clock, id)
    const refunded = excess < 0 ? counter.refund(-excess, clock, { at: reservation.at, id }) : 0
    return { settled: true, charged: Math.max(0, excess), refunded }
  }

  refund(check: OracleCheck, cost: number, clock: number, of: Admission | undefined): number {
    return this.of(check).refund(cost, clock, of)
  }

  reset({ counter }: OracleCheck): void {
    this.#counters.delete(counter)
    this.#reservations.forget(counter)
  }

  of({ rule, counter }: OracleCheck): BlockedCounter {
    const known = this.#counters.get(counter) ?? new BlockedCounter(counterOf(rule), rule)
    this.#counters.set(counter, known)
    return known
  }
}
