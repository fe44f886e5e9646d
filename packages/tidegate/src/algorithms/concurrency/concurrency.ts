import type { Admission, Entry } from '../../admission.ts'
import { admitted, heldBefore, type RuleDecision, refused } from '../../decision.ts'
import type { Quota } from '../../quota.ts'
import { type Algorithm, UNTOUCHED } from '../algorithm.ts'
import { Leases } from './leases.ts'

const NONE = new Leases()

/**
 * A limit on what is held at once: a request holds its cost as a lease, until it is released or, should its holder have
 * died, `spanMs` after it was granted or last renewed. The id of a live lease asks for nothing new: it is admitted
 * whatever is used, charged nothing, and renewed.
 */
export class Concurrency implements Algorithm {
  readonly #leases: Leases[] = []
  readonly #free: number[] = []

  open(): number {
    const state = this.#free.pop() ?? this.#leases.length
    this.#leases[state] = new Leases()
    return state
  }

  release(state: number): void {
    this.#leases[state] = NONE
    this.#free.push(state)
  }

  evaluate(state: number, quota: Quota, cost: number, clock: number, id = ''): RuleDecision {
    const { limit, spanMs } = quota
    const leases = this.#leasesOf(state)
    const { newest } = leases
    const cameRight = newest - clock > spanMs
    const at = cameRight ? clock : Math.max(newest, clock)
    const cut = Math.max(newest, clock) - spanMs
    const used = leases.heldAfter(cut)
    const reset = used === 0 ? 0 : (cameRight ? clock : newest) + spanMs - clock
    const full = cost === 0 ? reset : at + spanMs - clock
    if (leases.has(id, cut)) return heldBefore(admitted(quota, used, full, at))
    if (used + cost <= limit) return admitted(quota, used + cost, full, at)
    if (cost > limit) return refused(quota, cost, used, null, reset, at)
    const freed = cameRight ? clock : leases.freeing(cut, used + cost - limit)
    return refused(quota, cost, used, freed + spanMs - clock, reset, at)
  }

  commit(state: number, { spanMs }: Quota, cost: number, at: number, id = ''): void {
    const leases = this.#leasesOf(state)
    leases.settle(spanMs, at)
    if (cost > 0) leases.grant(id, cost, at)
  }

  unsettled(state: number, at: number): boolean {
    return at < this.#leasesOf(state).newest
  }

  idle(state: number, { spanMs }: Quota, clock: number): boolean {
    return this.#leasesOf(state).newest <= clock - spanMs
  }

  /** A lease of which nothing is left has ended. Which lease is meant its id alone says, since its time moves as it is renewed. */
  refund(state: number, { spanMs }: Quota, cost: number, clock: number, of: Admission | undefined): number {
    const leases = this.#leasesOf(state)
    const cut = Math.max(leases.newest, clock) - spanMs
    // Nothing is written before it is known that there is something to give back.
    if (cost === 0 || leases.newest <= cut) return 0
    if (of !== undefined && (of.id === undefined || !leases.has(of.id, cut))) return 0
    leases.settle(spanMs, clock)
    return of?.id === undefined ? leases.takeOldest(cost) : leases.take(of.id, cost)
  }

  renew(state: number, { spanMs }: Quota, id: string, clock: number): boolean {
    const leases = this.#leasesOf(state)
    const { newest } = leases
    if (!leases.has(id, Math.max(newest, clock) - spanMs)) return false
    leases.settle(spanMs, clock)
    leases.grant(id, 0, newest - clock > spanMs ? clock : Math.max(newest, clock))
    return true
  }

  leased(state: number, { spanMs }: Quota, id: string, clock: number): number | undefined {
    const leases = this.#leasesOf(state)
    return leases.costOf(id, Math.max(leases.newest, clock) - spanMs)
  }

  raise(state: number, { spanMs }: Quota, cost: number, clock: number, id: string): void {
    const leases = this.#leasesOf(state)
    leases.settle(spanMs, clock)
    leases.raise(id, cost)
  }

  entries(state: number, { spanMs }: Quota, clock: number): Entry[] {
    const leases = this.#leasesOf(state)
    const cameRight = leases.newest - clock > spanMs
    const entries = leases.entriesAfter(Math.max(leases.newest, clock) - spanMs)
    return cameRight ? entries.map((entry) => ({ ...entry, at: clock })) : entries
  }

  #leasesOf(state: number): Leases {
    return state === UNTOUCHED ? NONE : (this.#leases[state] as Leases)
  }
}
