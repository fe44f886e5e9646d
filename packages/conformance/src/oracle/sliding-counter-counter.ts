import type { Admission } from 'tidegate/store'
import type { Counter, LimitedRule, Verdict } from './counter.ts'

interface Admitted {
  readonly at: number
  readonly cost: number
}

/**
 * Every admission is remembered by itself, and the two windows are counted from them for each decision. Fractions are
 * compared multiplied out, and times are found by trying.
 */
export class SlidingCounterCounter implements Counter {
  #limit: number
  readonly #windowMs: number
  #admitted: readonly Admitted[] = []
  /** The newest admission; a refund does not change when it was. */
  #newest = -1

  constructor(limit: number, windowMs: number) {
    this.#limit = limit
    this.#windowMs = windowMs
  }

  follow({ limit }: LimitedRule): void {
    this.#limit = limit
  }

  admits(cost: number, clock: number): boolean {
    return this.#fits(this.#standing(clock), cost, this.#time(clock))
  }

  verdict(cost: number, charged: number, clock: number): Verdict {
    const at = this.#time(clock)
    const standing = this.#standing(clock)
    const counting = [...standing, { at, cost: charged }]
    const used = this.#used(counting, at)
    const resetAfterMs = this.#wait(at, (time) => this.#used(counting, time) === 0) + at - clock
    if (this.admits(cost, clock)) return { allowed: true, used, retryAfterMs: 0, resetAfterMs, at, reason: 'ok' }
    const exceeds = cost > this.#limit
    const reason = exceeds ? 'cost_exceeds_limit' : 'over_limit'
    const retryAfterMs = exceeds ? null : this.#wait(at, (time) => this.#fits(standing, cost, time)) + at - clock
    return { allowed: false, used, retryAfterMs, resetAfterMs, at, reason }
  }

  admit(cost: number, clock: number): void {
    const at = this.#time(clock)
    this.comeRight(clock)
    this.#admitted = [...this.#admitted.filter((one) => this.#age(one.at, at) <= 1), { at, cost }]
    this.#newest = at
  }

  comeRight(clock: number): void {
    if (!this.#cameRight(clock)) return
    this.#admitted = this.#standing(clock)
    this.#newest = clock
  }

  refund(cost: number, clock: number, of: Admission | undefined): number {
    const at = this.#time(clock)
    let left = cost
    const kept: Admitted[] = []
    for (const one of this.#standing(clock)) {
      const isMeant = of === undefined || (of.at !== undefined && this.#window(of.at) === this.#window(one.at))
      const given = isMeant && this.#age(one.at, at) <= 1 ? Math.min(left, one.cost) : 0
      left -= given
      kept.push({ at: one.at, cost: one.cost - given })
    }
    if (left === cost) return 0
    this.comeRight(clock)
    this.#admitted = kept
    if (this.#used(kept, at) > 0) return cost - left
    this.#admitted = []
    this.#newest = -1
    return cost - left
  }

  /** The previous window by the part of it that the sliding window covers, rounded up, and the current one. */
  #used(admitted: readonly Admitted[], time: number): number {
    const [current, previous] = [0, 1].map((age) => sum(admitted.filter(({ at }) => this.#age(at, time) === age)))
    const numerator = (previous as bigint) * BigInt(this.#windowMs - (time % this.#windowMs))
    const whole = numerator / BigInt(this.#windowMs)
    const begun = numerator % BigInt(this.#windowMs) > 0n ? 1n : 0n
    return Number((current as bigint) + whole + begun)
  }

  /** Whether previous * (W - e) + (current + cost) * W <= limit * W. */
  #fits(admitted: readonly Admitted[], cost: number, time: number): boolean {
    const units = admitted.reduce((total, one) => {
      const age = this.#age(one.at, time)
      const weight = age === 0 ? this.#windowMs : age === 1 ? this.#windowMs - (time % this.#windowMs) : 0
      return total + BigInt(one.cost) * BigInt(weight)
    }, 0n)
    return units + BigInt(cost) * BigInt(this.#windowMs) <= BigInt(this.#limit) * BigInt(this.#windowMs)
  }

  /** The smallest wait from `at` on after which it is so; nothing counts for longer than two windows. */
  #wait(at: number, isSo: (time: number) => boolean): number {
    let [low, high] = [0, 2 * this.#windowMs]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (isSo(at + middle)) high = middle
      else low = middle + 1
    }
    return low
  }

  /** How many windows before that of `time` another one is. */
  #age(at: number, time: number): number {
    return this.#window(time) - this.#window(at)
  }

  #window(time: number): number {
    return Math.floor(time / this.#windowMs)
  }

  /** The time of the decision: never before the newest admission, unless that is further ahead than anything counts. */
  #time(clock: number): number {
    return this.#cameRight(clock) ? clock : Math.max(this.#newest, clock)
  }

  #cameRight(clock: number): boolean {
    return this.#newest - clock > 2 * this.#windowMs
  }

  /** The admissions as they stand: where the clock came right, what counted at the newest counts as made now. */
  #standing(clock: number): readonly Admitted[] {
    return this.#cameRight(clock) ? [{ at: clock, cost: this.#used(this.#admitted, this.#newest) }] : this.#admitted
  }
}

function sum(admitted: readonly Admitted[]): bigint {
  return admitted.reduce((total, { cost }) => total + BigInt(cost), 0n)
}
