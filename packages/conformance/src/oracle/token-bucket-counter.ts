import type { Admission } from 'tidegate/store'
import type { Counter, LimitedRule, Verdict } from './counter.ts'

/** Taken from the bucket, or (negative) given back, in units. */
interface Movement {
  readonly at: bigint
  readonly units: bigint
}

/**
 * Every admission since the bucket was last full is remembered and played again for each decision, in units of which
 * a token has `window` and each ms brings `refill`: no fraction is ever rounded.
 */
export class TokenBucketCounter implements Counter {
  #capacity: number
  readonly #refill: bigint
  readonly #window: bigint
  #movements: readonly Movement[] = []

  constructor(capacity: number, refill: number, window: number) {
    this.#capacity = capacity
    this.#refill = BigInt(refill)
    this.#window = BigInt(window)
  }

  /** Of another capacity alone: what a changed refill does to a remainder is not of the definition. */
  follow({ limit, capacity, burst }: LimitedRule): void {
    this.#capacity = burst ?? capacity ?? limit
  }

  admits(cost: number, clock: number): boolean {
    return this.#fits(this.#missing(this.#time(clock)), cost)
  }

  verdict(cost: number, charged: number, clock: number): Verdict {
    const at = this.#time(clock)
    const missing = this.#missing(at)
    const then = missing + BigInt(charged) * this.#window
    const used = this.#tokens(then)
    const resetAfterMs = this.#wait(then, (left) => left === 0n) + at - clock
    if (this.#fits(missing, cost)) return { allowed: true, used, retryAfterMs: 0, resetAfterMs, at, reason: 'ok' }
    const exceeds = cost > this.#capacity
    const reason = exceeds ? 'cost_exceeds_limit' : 'over_limit'
    const retryAfterMs = exceeds ? null : this.#wait(missing, (left) => this.#fits(left, cost)) + at - clock
    return { allowed: false, used, retryAfterMs, resetAfterMs, at, reason }
  }

  admit(cost: number, clock: number): void {
    const at = this.#time(clock)
    const taken = { at: BigInt(at), units: BigInt(cost) * this.#window }
    this.#movements = this.#missing(at) === 0n ? [taken] : [...this.#movements, taken]
  }

  comeRight(clock: number): void {
    if (!this.#cameRight(clock)) return
    this.#movements = [{ at: BigInt(clock), units: this.#missing(clock) }]
  }

  refund(cost: number, clock: number, of: Admission | undefined): number {
    const at = this.#time(clock)
    const missing = this.#missing(at)
    const given = this.#stillOut(cost, at, of)
    // What gives back nothing leaves no trace: the clock can step back to a time when something was missing.
    if (missing === 0n || given === 0n) return 0
    if (missing <= given) {
      this.#movements = []
      return this.#tokens(missing)
    }
    this.comeRight(clock)
    // In the books it stands at the newest admission: the clock can step back to that.
    this.#movements = [...this.#movements, { at: this.#newest(), units: -given }]
    return this.#tokens(given)
  }

  /** The units of a cost that the bucket cannot have refilled since its admission. */
  #stillOut(cost: number, at: number, of: Admission | undefined): bigint {
    const whole = BigInt(cost) * this.#window
    if (of === undefined) return whole
    return of.at === undefined || of.at > at ? 0n : atLeastNothing(whole - this.#refill * BigInt(at - of.at))
  }

  /** The units missing at a time; where that is before the newest admission, as many as were missing then. */
  #missing(time: number): bigint {
    let missing = 0n
    let now = 0n
    for (const { at, units } of this.#movements) {
      missing = atLeastNothing(atLeastNothing(missing - this.#refill * (at - now)) + units)
      now = at
    }
    const elapsed = BigInt(time) - now
    return elapsed < 0n ? missing : atLeastNothing(missing - this.#refill * elapsed)
  }

  /** Tokens, the one begun included. */
  #tokens(units: bigint): number {
    return Number((units + this.#window - 1n) / this.#window)
  }

  #fits(missing: bigint, cost: number): boolean {
    return this.#tokens(missing) + cost <= this.#capacity
  }

  /** The smallest wait after which what is still missing is little enough: halved until found. */
  #wait(missing: bigint, enough: (left: bigint) => boolean): number {
    const after = (ms: bigint) => enough(atLeastNothing(missing - this.#refill * ms))
    let [low, high] = [0n, 1n]
    while (!after(high) && high < LONGEST_MS) high *= 2n
    while (low < high) {
      const middle = (low + high) / 2n
      if (after(middle)) high = middle
      else low = middle + 1n
    }
    return Number(low)
  }

  /** The time of the decision: never before the newest admission, unless that is further ahead than a whole refill. */
  #time(clock: number): number {
    return this.#cameRight(clock) ? clock : Math.max(Number(this.#newest()), clock)
  }

  #cameRight(clock: number): boolean {
    const whole = BigInt(this.#capacity) * this.#window
    const fill = Math.max(
      1,
      this.#wait(whole, (left) => left === 0n),
    )
    return Number(this.#newest()) - clock > fill
  }

  #newest(): bigint {
    return this.#movements.at(-1)?.at ?? -1n
  }
}

/** 142,000 years: no longer wait is ever told. */
const LONGEST_MS = 2n ** 52n

function atLeastNothing(units: bigint): bigint {
  return units > 0n ? units : 0n
}
