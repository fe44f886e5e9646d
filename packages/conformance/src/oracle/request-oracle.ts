import type { Admission, Mode, Settlement } from 'tidegate/store'
import { BlockedCounter } from './blocked-counter.ts'
import type { LimitedRule, Verdict } from './counter.ts'
import { counterOf } from './counter-of.ts'
import { ReservationBook } from './reservation-book.ts'

/** One limit of a request: the rule as it is at that step, the name of its counter, and the cost where the request's is not the rule's. */
export interface OracleCheck {
  readonly rule: LimitedRule
  readonly counter: string
  readonly cost?: number | undefined
}

/** Requests over several rules by brute force: all are charged, or none; of those in shadow the ones that admit it, too. */
export class RequestOracle {
  readonly #counters = new Map<string, BlockedCounter>()
  readonly #reservations = new ReservationBook()

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

  /** Checks whose reservation is live pass, unless they are blocked; the others are decided as by `decide`. */
  reserve(checks: readonly OracleCheck[], requested: number, clock: number, id: string, expiresIn: number): Verdict[] {
    const asked = checks.map((check) => {
      const [counter, cost] = [this.of(check), check.cost ?? requested]
      // Whether a lease is held is for the lease to say.
      const isLease = check.rule.algorithm === 'concurrency'
      const isLive = !isLease && this.#reservations.find(check.counter, id, clock) !== undefined
      const passes = isLive ? !counter.isBlocked(clock) : counter.admits(cost, clock, id)
      // A lease that is held without a reservation stays without one.
      const isHeld = isLease && counter.reserved(0, clock, id) !== undefined
      const isKept = !isHeld || this.#reservations.find(check.counter, id, clock) !== undefined
      return { check, counter, cost, isLive, passes, isKept }
    })
    const admitted = asked.every(({ passes, check }) => passes || check.rule.shadow === true)
    const verdicts = asked.map(({ counter, cost, isLive, passes }): Verdict => {
      const charged = isLive ? 0 : cost
      const verdict = counter.verdict(charged, admitted && passes ? charged : 0, clock, id)
      return isLive && passes ? { ...verdict, allowed: true, retryAfterMs: 0, reason: 'ok' } : verdict
    })
    for (const [i, { check, counter, cost, isLive, passes, isKept }] of asked.entries()) {
      if (isLive) continue
      counter.comeRight(clock)
      if (!passes) counter.refuse(cost, clock, id)
      if (!admitted || !passes) continue
      counter.admit(cost, clock, id)
      const at = verdicts[i]?.at as number
      if (isKept) this.#reservations.add(check.counter, { id, cost, at, until: clock + expiresIn }, clock)
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
    known.follow(rule)
    return known
  }
}
