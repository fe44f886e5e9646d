import { admitted, type RuleDecision, refused } from '../../decision.ts'
import type { Quota as Limit } from '../../quota.ts'
import { type Algorithm, UNTOUCHED } from '../algorithm.ts'
import { offsetOf, Slab } from '../slab.ts'

/** What a state holds, as offsets in its row. */
const USED = 0

/**
 * A stock: what is used stays used, until it is given back by a refund. It has no window and asks no
 * clock, so nobody is ever told to come back.
 */
export class Quota implements Algorithm {
  readonly #rows = new Slab()

  open(): number {
    return this.#rows.open()
  }

  release(state: number): void {
    this.#rows.release(state)
  }

  evaluate(state: number, quota: Limit, cost: number, clock: number): RuleDecision {
    const used = this.#used(state)
    const charged = used + cost
    if (charged <= quota.limit) return admitted(quota, charged, charged === 0 ? 0 : null, clock)
    return refused(quota, cost, used, null, used === 0 ? 0 : null, clock)
  }

  commit(state: number, _quota: Limit, cost: number): void {
    const row = this.#rows.page(state)
    ;(row[offsetOf(state) + USED] as number) += cost
  }

  unsettled(): boolean {
    return false
  }

  idle(state: number): boolean {
    return this.#used(state) === 0
  }

  refund(state: number, quota: Limit, cost: number): number {
    const refunded = Math.min(cost, this.#used(state))
    this.commit(state, quota, -refunded)
    return refunded
  }

  #used(state: number): number {
    return state === UNTOUCHED ? 0 : (this.#rows.page(state)[offsetOf(state) + USED] as number)
  }
}
