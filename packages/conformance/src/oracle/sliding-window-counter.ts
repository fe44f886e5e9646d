import type { Admission } from 'tidegate/store'
import type { Counter, LimitedRule, Verdict } from './counter.ts'

interface Admitted {
  readonly at: number
  readonly cost: number
}

/** Every admission is remembered by itself and counted again for each decision. */
export class SlidingWindowCounter implements Counter {
  #limit: number
  readonly #windowMs: number
  readonly #resolutionMs: number
  #admitted: readonly Admitted[] = []

  constructor(limit: number, windowMs: number, resolutionMs: number) {
    this.#limit = limit
    this.#windowMs = windowMs
    this.#resolutionMs = resolutionMs
  }

  follow({ limit }: LimitedRule): void {
    this.#limit = limit
  }

  admits(cost: number, clock: number): boolean {
    return sum(this.#live(clock)) + cost <= this.#limit
  }

  verdict(cost: number, charged: number, clock: number): Verdict {
    const at = this.#time(clock)
    const counting = [...this.#live(clock), ...(charged > 0 ? [{ at: this.#tick(at), cost: charged }] : [])]
    const resetAfterMs = counting.length === 0 ? 0 : Math.max(...counting.map((one) => this.#end(one))) - clock
    const used = sum(counting)
    if (this.admits(cost, clock)) return { allowed: true, used, retryAfterMs: 0, resetAfterMs, at, reason: 'ok' }
    const exceeds = cost > this.#limit
    const reason = exceeds ? 'cost_exceeds_limit' : 'over_limit'
    return { allowed: false, used, retryAfterMs: exceeds ? null : this.#wait(cost, clock), resetAfterMs, at, reason }
  }

  admit(cost: number, clock: number): void {
    const at = this.#time(clock)
    // No decision is made before the newest admission: what ended by then never counts again.
    const counting = this.#admitted.filter((one) => at < this.#end(one))
    this.#admitted = [...counting, { at: this.#tick(at), cost }]
  }

  comeRight(clock: number): void {
    if (this.#cameRight(clock)) this.#admitted = this.#live(clock)
  }

  refund(cost: number, clock: number, of: Admission | undefined): number {
    const live = this.#live(clock)
    let left = cost
    const kept: Admitted[] = []
    for (const one of live) {
      const isMeant = of === undefined || (of.at !== undefined && this.#tick(of.at) === one.at)
      const given = isMeant ? Math.min(left, one.cost) : 0
      left -= given
      if (one.cost > given) kept.push({ at: one.at, cost: one.cost - given })
    }
    if (left < cost) this.#admitted = kept
    return cost - left
  }

  /** The smallest wait after which the same request is admitted, found among the ends of all admissions. */
  #wait(cost: number, clock: number): number {
    const live = this.#live(clock)
    const waits = live.map((one) => this.#end(one) - clock).sort((a, b) => a - b)
    const enough = (wait: number) => sum(live.filter((one) => this.#end(one) > clock + wait)) + cost <= this.#limit
    return waits.find(enough) as number
  }

  /** An admission counts until the last instant of its tick has left the window. */
  #end({ at }: Admitted): number {
    return at + this.#resolutionMs - 1 + this.#windowMs
  }

  #tick(time: number): number {
    return Math.floor(time / this.#resolutionMs) * this.#resolutionMs
  }

  /** The time of the decision: never before the newest admission, unless that is further ahead than it counts. */
  #time(clock: number): number {
    return this.#cameRight(clock) ? clock : Math.max(this.#newest(), clock)
  }

  #cameRight(clock: number): boolean {
    return this.#newest() - clock > this.#windowMs + this.#resolutionMs - 1
  }

  #newest(): number {
    return Math.max(-1, ...this.#admitted.map(({ at }) => at))
  }

  /** The admissions that count, as they count: where the clock came right, those live at the newest count as made now. */
  #live(clock: number): readonly Admitted[] {
    const now = Math.max(this.#newest(), clock)
    const live = this.#admitted.filter((one) => now < this.#end(one))
    return this.#cameRight(clock) ? live.map(({ cost }) => ({ at: this.#tick(clock), cost })) : live
  }
}

function sum(admitted: readonly Admitted[]): number {
  return admitted.reduce((total, { cost }) => total + cost, 0)
}
