import type { Counter, LimitedRule, Verdict } from './counter.ts'

/** A stock that is used up, and given back. */
export class QuotaCounter implements Counter {
  #limit: number
  #used = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  follow({ limit }: LimitedRule): void {
    this.#limit = limit
  }

  admits(cost: number): boolean {
    return this.#used + cost <= this.#limit
  }

  verdict(cost: number, charged: number, at: number): Verdict {
    const used = this.#used + charged
    const resetAfterMs = used === 0 ? 0 : null
    if (this.admits(cost)) return { allowed: true, used, retryAfterMs: 0, resetAfterMs, at, reason: 'ok' }
    const reason = cost > this.#limit ? 'cost_exceeds_limit' : 'over_limit'
    return { allowed: false, used, retryAfterMs: null, resetAfterMs, at, reason }
  }

  admit(cost: number): void {
    this.#used += cost
  }

  comeRight(): void {}

  refund(cost: number): number {
    const given = Math.min(cost, this.#used)
    this.#used -= given
    return given
  }
}
