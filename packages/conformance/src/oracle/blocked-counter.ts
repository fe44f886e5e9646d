import type { Admission } from 'tidegate/store'
import type { Counter, LimitedRule, Verdict } from './counter.ts'

/** A counter whose key can be blocked, by hand or as a penalty of its rule. */
export class BlockedCounter implements Counter {
  readonly #counter: Counter
  #rule: LimitedRule
  #block: { from: number; until: number } | undefined
  #penalties = { count: 0, remembered: 0 }

  constructor(counter: Counter, rule: LimitedRule) {
    this.#counter = counter
    this.#rule = rule
  }

  follow(rule: LimitedRule): void {
    if (rule === this.#rule) return
    this.#rule = rule
    this.#counter.follow(rule)
  }

  admits(cost: number, clock: number, id: string): boolean {
    return this.#left(clock) === 0 && this.#counter.admits(cost, clock, id)
  }

  verdict(cost: number, charged: number, clock: number, id: string): Verdict {
    const verdict = this.#counter.verdict(cost, charged, clock, id)
    const left = this.#left(clock)
    const due = left > 0 ? left : this.#due(verdict, cost, clock)
    if (due === 0) return verdict
    const longer = (ms: number | null) => (ms === null || due === Number.POSITIVE_INFINITY ? null : Math.max(ms, due))
    const { retryAfterMs, resetAfterMs } = verdict
    const figures = { ...verdict, retryAfterMs: longer(retryAfterMs), resetAfterMs: longer(resetAfterMs) }
    return left > 0 ? { ...figures, allowed: false, reason: 'blocked' } : figures
  }

  admit(cost: number, clock: number, id: string): void {
    this.#counter.admit(cost, clock, id)
  }

  /** Writes down what a refusal by this counter leads to; where nothing is blocked, nothing. */
  refuse(cost: number, clock: number, id: string): void {
    if (this.#left(clock) > 0) return
    const ms = this.#due(this.#counter.verdict(cost, 0, clock, id), cost, clock)
    if (ms === 0) return
    const { blocks, forgetAfter } = this.#rule.penalty as { blocks: number[]; forgetAfter: number }
    const count = Math.min(this.#times(clock) + 1, blocks.length)
    this.#block = { from: clock, until: clock + ms }
    this.#penalties = { count, remembered: clock + ms + forgetAfter }
  }

  comeRight(clock: number): void {
    if (this.#left(clock) === 0) {
      this.#block = undefined
      this.#counter.comeRight(clock)
    } else if (this.#block !== undefined && this.#cameRight(clock)) this.block(this.#left(clock), clock)
  }

  refund(cost: number, clock: number, of: Admission | undefined): number {
    return this.#counter.refund(cost, clock, of)
  }

  /** An excess above a reservation, which is charged whatever has been used, and behind a block. */
  charge(cost: number, clock: number, id: string): void {
    this.#counter.comeRight(clock)
    if (this.#counter.raise === undefined) this.#counter.admit(cost, clock, id)
    else this.#counter.raise(cost, clock, id)
  }

  /** What was reserved, which of a lease is what it costs by now; undefined where there is nothing left of it. */
  reserved(cost: number, clock: number, id: string): number | undefined {
    return this.#counter.leased === undefined ? cost : this.#counter.leased(clock, id)
  }

  isBlocked(clock: number): boolean {
    return this.#left(clock) > 0
  }

  renew(id: string, clock: number): boolean {
    return this.#counter.renew?.(id, clock) ?? false
  }

  entries(clock: number): { at: number; id: string; cost: number }[] {
    return this.#counter.entries?.(clock) ?? []
  }

  block(ms: number, clock: number): void {
    this.#block = { from: clock, until: clock + ms }
  }

  unblock(clock: number): boolean {
    const was = this.#left(clock) > 0
    this.#block = undefined
    this.#penalties = { count: 0, remembered: 0 }
    return was
  }

  #left(clock: number): number {
    if (this.#block === undefined || clock >= this.#block.until) return 0
    const { from, until } = this.#block
    return this.#cameRight(clock) ? until - from : until - clock
  }

  #cameRight(clock: number): boolean {
    const { from, until } = this.#block as { from: number; until: number }
    return from - clock > until - from
  }

  /** How long the key would be blocked if this refusal were written down; 0 where it would not. */
  #due({ reason, retryAfterMs }: Verdict, cost: number, clock: number): number {
    const { penalty } = this.#rule
    if (penalty === undefined || reason !== 'over_limit' || retryAfterMs === null || cost === 0) return 0
    return penalty.blocks[Math.min(this.#times(clock), penalty.blocks.length - 1)] as number
  }

  /** How many penalties are remembered; none of a clock that had jumped ahead by more than any is remembered for. */
  #times(clock: number): number {
    const { blocks, forgetAfter } = this.#rule.penalty as { blocks: number[]; forgetAfter: number }
    const left = this.#penalties.remembered - clock
    return left > 0 && left <= Math.max(...blocks) + forgetAfter ? this.#penalties.count : 0
  }
}
