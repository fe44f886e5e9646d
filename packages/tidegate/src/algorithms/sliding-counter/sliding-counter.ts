import type { Admission } from '../../admission.ts'
import { admitted, type RuleDecision, refused } from '../../decision.ts'
import type { Quota } from '../../quota.ts'
import { type Algorithm, UNTOUCHED } from '../algorithm.ts'
import { offsetOf, Slab } from '../slab.ts'
import { scaledDown, scaledUp } from './scaled.ts'

/** What a state holds, as offsets in its row. */
/** Time of the newest admission, ms; the current window is the one that it lies in. */
const LAST = 0
/** The cost admitted in the window before that one, */
const PREVIOUS = 1
/** and in it. */
const CURRENT = 2

/** The two windows at one time. */
interface Counts {
  readonly previous: number
  readonly current: number
}

const NOTHING: Counts = { previous: 0, current: 0 }

/**
 * The sliding window counter: two windows aligned to the epoch. The previous one counts by the share of it that the
 * sliding window still covers, as if its requests had come evenly; the current one counts whole. What is used is rounded
 * up, which admits exactly what the comparison of fractions would.
 *
 * As described by Cloudflare, "How we built rate limiting capable of scaling to millions of domains", 2017:
 * https://blog.cloudflare.com/counting-things-a-lot-of-different-things/
 */
export class SlidingCounter implements Algorithm {
  readonly #rows = new Slab()

  open(): number {
    const state = this.#rows.open()
    this.#write(state, Number.NEGATIVE_INFINITY, 0, 0)
    return state
  }

  release(state: number): void {
    this.#rows.release(state)
  }

  evaluate(state: number, quota: Quota, cost: number, clock: number): RuleDecision {
    const { limit, windowMs } = quota
    const at = this.#time(state, quota, clock)
    const { previous, current } = this.#counts(state, quota, at)
    const left = windowMs - (at % windowMs)
    const used = current + scaledUp(previous, left, windowMs)
    const next = left + at - clock
    const isOver = used + cost > limit
    const untilReset = (counts: boolean) => (counts ? next + windowMs : previous > 0 ? next : 0)
    if (!isOver) return admitted(quota, used + cost, untilReset(current + cost > 0), at)
    const retryAfterMs = cost > limit ? null : next + waitPast(quota, previous, current, cost)
    return refused(quota, cost, used, retryAfterMs, untilReset(current > 0), at)
  }

  commit(state: number, quota: Quota, cost: number, at: number): void {
    const { previous, current } = this.#counts(state, quota, at)
    this.#write(state, at, previous, current + cost)
  }

  unsettled(state: number, at: number): boolean {
    return at < this.#last(state)
  }

  idle(state: number, quota: Quota, clock: number): boolean {
    const { previous, current } = this.#counts(state, quota, clock)
    return clock >= this.#last(state) && previous + current === 0
  }

  refund(state: number, quota: Quota, cost: number, clock: number, of: Admission | undefined): number {
    const at = this.#time(state, quota, clock)
    const counts = this.#counts(state, quota, at)
    const { previous, current } = givenBack(quota, counts, cost, at, of)
    const refunded = previous + current
    if (refunded === 0) return 0
    if (refunded === counts.previous + counts.current) this.#write(state, Number.NEGATIVE_INFINITY, 0, 0)
    else {
      if (this.unsettled(state, at)) this.commit(state, quota, 0, at)
      const { windowMs } = quota
      const row = this.#rows.page(state)
      const offset = offsetOf(state)
      // The newest admission stays where it is, because the clock can step back to it.
      const isSame = startOf(at, windowMs) === startOf(row[offset + LAST] as number, windowMs)
      ;(row[offset + PREVIOUS] as number) -= isSame ? previous : 0
      ;(row[offset + CURRENT] as number) -= isSame ? current : previous
    }
    return refunded
  }

  /** The time of the decision: never before the newest admission, unless that is further ahead than it counts. */
  #time(state: number, { spanMs }: Quota, clock: number): number {
    const last = this.#last(state)
    return last > clock && last - clock <= spanMs ? last : clock
  }

  /** What the two windows at `at` hold. Where that is before the newest admission, the clock came right: all of it is made now. */
  #counts(state: number, { windowMs }: Quota, at: number): Counts {
    if (state === UNTOUCHED) return NOTHING
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    const last = row[offset + LAST] as number
    const previous = row[offset + PREVIOUS] as number
    const current = row[offset + CURRENT] as number
    if (at < last) return { previous: 0, current: current + scaledUp(previous, windowMs - (last % windowMs), windowMs) }
    const passed = startOf(at, windowMs) - startOf(last, windowMs)
    if (passed === 0) return { previous, current }
    return passed === windowMs ? { previous: current, current: 0 } : NOTHING
  }

  #last(state: number): number {
    return state === UNTOUCHED ? Number.NEGATIVE_INFINITY : (this.#rows.page(state)[offsetOf(state) + LAST] as number)
  }

  #write(state: number, last: number, previous: number, current: number): void {
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    row[offset + LAST] = last
    row[offset + PREVIOUS] = previous
    row[offset + CURRENT] = current
  }
}

/** When the window of a time begins. */
function startOf(time: number, windowMs: number): number {
  return time - (time % windowMs)
}

/**
 * How long after the end of the current window (negative: before it) a refused cost is admitted: once so little is left
 * of the previous window, or else, in the next one, of this.
 */
function waitPast({ limit, windowMs }: Quota, previous: number, current: number, cost: number): number {
  const room = limit - cost - current
  if (room >= 0) return -scaledDown(room, windowMs, previous)
  return windowMs - scaledDown(limit - cost, windowMs, current)
}

/** How much of a refund each window gives: the one that the admission lies in, or the oldest first. */
function givenBack({ windowMs }: Quota, counts: Counts, cost: number, at: number, of: Admission | undefined): Counts {
  if (of === undefined) {
    const previous = Math.min(cost, counts.previous)
    return { previous, current: Math.min(cost - previous, counts.current) }
  }
  if (of.at === undefined) return NOTHING
  const ago = startOf(at, windowMs) - startOf(of.at, windowMs)
  if (ago === 0) return { previous: 0, current: Math.min(cost, counts.current) }
  return ago === windowMs ? { previous: Math.min(cost, counts.previous), current: 0 } : NOTHING
}
