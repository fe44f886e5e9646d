import type { Admission, Entry } from 'tidegate/store'
import type { Counter, LimitedRule, Verdict } from './counter.ts'

/** Every admission in a list, which is gone through anew for each question. */
export class SlidingLogCounter implements Counter {
  #limit: number
  readonly #windowMs: number
  #list: readonly Entry[] = []

  constructor(limit: number, windowMs: number) {
    this.#limit = limit
    this.#windowMs = windowMs
  }

  follow({ limit }: LimitedRule): void {
    this.#limit = limit
  }

  admits(cost: number, clock: number): boolean {
    return sum(this.entries(clock)) + cost <= this.#limit
  }

  verdict(cost: number, charged: number, clock: number): Verdict {
    const at = this.#time(clock)
    const charge = { at, id: '', cost: charged }
    const counting = [...this.entries(clock), ...(charged > 0 ? [charge] : [])]
    const resetAfterMs = Math.max(0, ...counting.map((one) => one.at + this.#windowMs - clock))
    const used = sum(counting)
    if (this.admits(cost, clock)) return { allowed: true, used, retryAfterMs: 0, resetAfterMs, at, reason: 'ok' }
    if (cost > this.#limit) {
      return { allowed: false, used, retryAfterMs: null, resetAfterMs, at, reason: 'cost_exceeds_limit' }
    }
    return { allowed: false, used, retryAfterMs: this.#wait(cost, clock), resetAfterMs, at, reason: 'over_limit' }
  }

  admit(cost: number, clock: number, id: string): void {
    const at = this.#time(clock)
    this.#list = [...this.#list.filter((one) => at - one.at < this.#windowMs), { at, id, cost }]
  }

  comeRight(clock: number): void {
    if (this.#cameRight(clock)) this.#list = this.entries(clock)
  }

  refund(cost: number, clock: number, of: Admission | undefined): number {
    const live = this.entries(clock)
    const meant =
      of === undefined
        ? live
        : live.filter(({ at, id }) => id === of.id && (of.at === undefined || of.at === at)).slice(0, 1)
    let left = cost
    const kept = live.map((one) => {
      const given = meant.includes(one) ? Math.min(left, one.cost) : 0
      left -= given
      return { ...one, cost: one.cost - given }
    })
    if (left < cost) this.#list = kept.filter((one) => one.cost > 0)
    return cost - left
  }

  /** The admissions that count, as they count: where the clock came right, those live at the newest count as made now. */
  entries(clock: number): Entry[] {
    const now = Math.max(this.#newest(), clock)
    const live = this.#list.filter(({ at }) => now - at < this.#windowMs)
    return this.#cameRight(clock) ? live.map((one) => ({ ...one, at: clock })) : live
  }

  /** Waits are tried one after the other: each ms at which something ends. */
  #wait(cost: number, clock: number): number {
    const live = this.entries(clock)
    const ends = live.map(({ at }) => at + this.#windowMs).sort((a, b) => a - b)
    const free = ends.find((end) => sum(live.filter(({ at }) => at + this.#windowMs > end)) + cost <= this.#limit)
    return (free as number) - clock
  }

  #time(clock: number): number {
    return this.#cameRight(clock) ? clock : Math.max(this.#newest(), clock)
  }

  #cameRight(clock: number): boolean {
    return this.#newest() - clock > this.#windowMs
  }

  #newest(): number {
    return this.#list.reduce((newest, { at }) => Math.max(newest, at), -1)
  }
}

function sum(entries: readonly Entry[]): number {
  return entries.reduce((total, { cost }) => total + cost, 0)
}
