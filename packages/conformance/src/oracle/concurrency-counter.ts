import type { Admission, Entry } from 'tidegate/store'
import type { Counter, LimitedRule, Verdict } from './counter.ts'

/** All leases in a list, which is filtered by time for each question; `at` is the grant or the last renewal. */
export class ConcurrencyCounter implements Counter {
  #limit: number
  readonly #lifeMs: number
  #leases: readonly Entry[] = []

  constructor(limit: number, lifeMs: number) {
    this.#limit = limit
    this.#lifeMs = lifeMs
  }

  follow({ limit }: LimitedRule): void {
    this.#limit = limit
  }

  admits(cost: number, clock: number, id: string): boolean {
    return this.#holds(id, clock) || sum(this.entries(clock)) + cost <= this.#limit
  }

  verdict(cost: number, charged: number, clock: number, id: string): Verdict {
    const at = this.#time(clock)
    const after = new ConcurrencyCounter(this.#limit, this.#lifeMs)
    after.#leases = this.#leases
    if (charged > 0) {
      after.comeRight(clock)
      after.admit(charged, clock, id)
    }
    const live = after.entries(clock)
    const resetAfterMs = Math.max(0, ...live.map((lease) => lease.at + this.#lifeMs - clock))
    const figures = { used: sum(live), resetAfterMs, at }
    if (this.admits(cost, clock, id)) return { allowed: true, retryAfterMs: 0, reason: 'ok', ...figures }
    if (cost > this.#limit) return { allowed: false, retryAfterMs: null, reason: 'cost_exceeds_limit', ...figures }
    return { allowed: false, retryAfterMs: this.#wait(cost, clock), reason: 'over_limit', ...figures }
  }

  admit(cost: number, clock: number, id: string): void {
    const at = this.#time(clock)
    const live = this.entries(clock)
    const held = live.find((lease) => lease.id === id)
    this.#leases = [...live.filter((lease) => lease !== held), { at, id, cost: held?.cost ?? cost }]
  }

  comeRight(clock: number): void {
    if (this.#cameRight(clock)) this.#leases = this.entries(clock)
  }

  refund(cost: number, clock: number, of: Admission | undefined): number {
    let left = cost
    const kept = this.entries(clock).map((lease) => {
      const given = of === undefined || of.id === lease.id ? Math.min(left, lease.cost) : 0
      left -= given
      return { ...lease, cost: lease.cost - given }
    })
    if (left < cost) this.#leases = kept.filter((lease) => lease.cost > 0)
    return cost - left
  }

  leased(clock: number, id: string): number | undefined {
    return this.entries(clock).find((lease) => lease.id === id)?.cost
  }

  raise(cost: number, clock: number, id: string): void {
    this.#leases = this.entries(clock).map((lease) => (lease.id === id ? { ...lease, cost: lease.cost + cost } : lease))
  }

  renew(id: string, clock: number): boolean {
    if (!this.#holds(id, clock)) return false
    this.comeRight(clock)
    this.admit(0, clock, id)
    return true
  }

  /** The leases that are live, as they count: where the clock came right, those live at the newest count as made now. */
  entries(clock: number): Entry[] {
    const now = Math.max(this.#newest(), clock)
    const live = this.#leases.filter(({ at }) => now - at < this.#lifeMs)
    const ordered = live.sort((a, b) => a.at - b.at || a.id.localeCompare(b.id))
    return this.#cameRight(clock) ? ordered.map((lease) => ({ ...lease, at: clock })) : ordered
  }

  #holds(id: string, clock: number): boolean {
    return this.entries(clock).some((lease) => lease.id === id)
  }

  #wait(cost: number, clock: number): number {
    const live = this.entries(clock)
    const ends = live.map(({ at }) => at + this.#lifeMs).sort((a, b) => a - b)
    const free = ends.find((end) => sum(live.filter(({ at }) => at + this.#lifeMs > end)) + cost <= this.#limit)
    return (free as number) - clock
  }

  #time(clock: number): number {
    return this.#cameRight(clock) ? clock : Math.max(this.#newest(), clock)
  }

  #cameRight(clock: number): boolean {
    return this.#newest() - clock > this.#lifeMs
  }

  #newest(): number {
    return this.#leases.reduce((newest, { at }) => Math.max(newest, at), -1)
  }
}

function sum(leases: readonly Entry[]): number {
  return leases.reduce((total, { cost }) => total + cost, 0)
}
