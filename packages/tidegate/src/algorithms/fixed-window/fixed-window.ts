import type { Admission } from '../../admission.ts'
import { admitted, type RuleDecision, refused } from '../../decision.ts'
import type { Quota, Span } from '../../quota.ts'
import { type Algorithm, UNTOUCHED } from '../algorithm.ts'
import { offsetOf, Slab } from '../slab.ts'

/** What a state holds, as offsets in its row. */
/** Where its window starts and ends, ms since the epoch. A row of zeros is a window that has ended. */
const START = 0
const END = 1
/** Time of the newest admission, which lies in the window. */
const LAST = 2
/** The cost admitted in the window. */
const COUNT = 3

/**
 * The fixed window: a request is admitted if the cost admitted in the window that it falls in, plus its own, is at most
 * the limit. Nothing of a window counts in the next one, so that up to twice the limit passes around an edge.
 *
 * A state keeps the start and the end of its own window. So one machine serves windows that the epoch, the calendar or
 * the first admission begins, and a time zone whose rules change in the middle of a window leaves that window as it is.
 *
 * The clock may step back by the length of the window that is kept; further back, what it holds counts in the window of
 * the clock.
 */
export class FixedWindow implements Algorithm {
  readonly #rows = new Slab()

  open(): number {
    return this.#rows.open()
  }

  release(state: number): void {
    this.#rows.release(state)
  }

  evaluate(state: number, quota: Quota, cost: number, clock: number): RuleDecision {
    if (state === UNTOUCHED) return answer(quota, cost, clock, 0, windowAt(quota, clock).end - clock)
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    const end = row[offset + END] as number
    if (clock >= end) return answer(quota, cost, clock, 0, windowAt(quota, clock).end - clock)
    const last = row[offset + LAST] as number
    const count = row[offset + COUNT] as number
    // The clock came right after having been far ahead: what is live counts as made now.
    if (last - clock > end - (row[offset + START] as number)) {
      return answer(quota, cost, clock, count, windowAt(quota, clock).end - clock)
    }
    return answer(quota, cost, Math.max(last, clock), count, end - clock)
  }

  commit(state: number, quota: Quota, cost: number, at: number): void {
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    const hasEnded = at >= (row[offset + END] as number)
    if (hasEnded || at < (row[offset + LAST] as number)) {
      const { start, end } = windowAt(quota, at)
      row[offset + START] = start
      row[offset + END] = end
    }
    row[offset + LAST] = at
    row[offset + COUNT] = (hasEnded ? 0 : (row[offset + COUNT] as number)) + cost
  }

  unsettled(state: number, at: number): boolean {
    return state !== UNTOUCHED && at < (this.#rows.page(state)[offsetOf(state) + LAST] as number)
  }

  idle(state: number, _quota: Quota, clock: number): boolean {
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    return clock >= (row[offset + END] as number) || row[offset + COUNT] === 0
  }

  /** The window keeps no single admissions: one that was made in it is given back as any other. */
  refund(state: number, _quota: Quota, cost: number, clock: number, of: Admission | undefined): number {
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    const end = row[offset + END] as number
    if (clock >= end) return 0
    if (of !== undefined && !isWithin(of.at, row[offset + START] as number, end)) return 0
    const refunded = Math.min(cost, row[offset + COUNT] as number)
    ;(row[offset + COUNT] as number) -= refunded
    return refunded
  }
}

/** The window of a time; one that begins then, where the first admission begins it. */
function windowAt({ windows, windowMs }: Quota, time: number): Span {
  return windows === undefined ? { start: time, end: time + windowMs } : windows.at(time)
}

function isWithin(time: number | undefined, start: number, end: number): boolean {
  return time !== undefined && time >= start && time < end
}

/** `left` is until the window ends, which begins one that admits any cost up to the limit. */
function answer(quota: Quota, cost: number, at: number, used: number, left: number): RuleDecision {
  const charged = used + cost
  if (charged <= quota.limit) return admitted(quota, charged, charged === 0 ? 0 : left, at)
  return refused(quota, cost, used, cost > quota.limit ? null : left, used === 0 ? 0 : left, at)
}
