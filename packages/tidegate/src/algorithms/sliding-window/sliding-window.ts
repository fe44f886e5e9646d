import type { Admission } from '../../admission.ts'
import { admitted, type RuleDecision, refused } from '../../decision.ts'
import type { Quota } from '../../quota.ts'
import { type Algorithm, UNTOUCHED } from '../algorithm.ts'
import { offsetOf, Slab } from '../slab.ts'
import { WindowLogs } from './window-logs.ts'

/**
 * What a state holds, as offsets in its row. A row is the newest entry and a view of the log of those
 * before it, as the trailer is in Redis.
 */
/** Time of the newest entry. */
const NEWEST = 0
/** Running total of the newest entry. */
const TOTAL = 1
/** Running total before the oldest entry that counted when the state was last written. */
const BEFORE = 2
/** Time of that oldest entry. */
const OLDEST = 3
/** Where that oldest entry stands in the log. */
const TAIL = 4
/** Entries in the log; the newest is not among them, so that a key that is used once needs none. */
const LENGTH = 5
/** Where the log is, and how many entries fit. */
const LOG = 6
const CAPACITY = 7

/** From this many entries on a log that has become nearly empty is made smaller. */
const LARGE = 64

/**
 * The exact sliding window (also called a sliding window log): a request is admitted at t if the
 * cost admitted in (t - window, t], plus its own, is at most the limit. An admission at s counts
 * while t < s + window.
 *
 * What was admitted is kept as a log of (time, running total), equal milliseconds merged into one
 * entry. With running totals the used cost is one subtraction, and the wait of a weighted request
 * one binary search. Totals are kept modulo 2^32, as in Redis; their differences never reach it.
 *
 * With a resolution an admission is kept at the beginning of its tick and counts for `spanMs`, until
 * the tick's last instant has left the window: the same machine, over coarser times.
 */
export class SlidingWindow implements Algorithm {
  readonly #rows = new Slab()
  readonly #logs = new WindowLogs()

  open(): number {
    const state = this.#rows.open()
    // Long over, whatever the clock and the window.
    this.#rows.page(state)[offsetOf(state) + NEWEST] = Number.NEGATIVE_INFINITY
    return state
  }

  release(state: number): void {
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    this.#logs.release(row[offset + LOG] as number, row[offset + CAPACITY] as number)
    this.#rows.release(state)
  }

  evaluate(state: number, quota: Quota, cost: number, clock: number): RuleDecision {
    const { limit, spanMs, resolutionMs } = quota
    if (state === UNTOUCHED) return answer(quota, cost, clock, 0, 0, 0, tickOf(clock, resolutionMs) + spanMs - clock)
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    const newest = row[offset + NEWEST] as number
    let at = clock
    if (clock < newest) {
      // The clock came right after having been far ahead: what is live counts as made now.
      if (newest - clock > spanMs) {
        const wait = tickOf(clock, resolutionMs) + spanMs - clock
        return answer(quota, cost, clock, this.#live(row, offset, newest - spanMs), wait, wait, wait)
      }
      at = newest
    }
    const cut = at - spanMs
    const full = tickOf(at, resolutionMs) + spanMs - clock
    if (newest <= cut) return answer(quota, cost, at, 0, 0, 0, full)
    let oldest = row[offset + OLDEST] as number
    let before = row[offset + BEFORE] as number
    let tail = row[offset + TAIL] as number
    if (oldest <= cut) {
      tail = this.#advance(row, offset, cut)
      oldest = this.#timeAt(row, offset, tail)
      before = this.#logs.totalAt(row[offset + LOG] as number, tail - 1)
    }
    const used = ((row[offset + TOTAL] as number) - before) >>> 0
    const excess = used + cost - limit
    const reset = newest + spanMs - clock
    if (excess <= 0 || cost > limit) return answer(quota, cost, at, used, 0, reset, full)
    const freed = excess === 1 ? oldest : this.#timeAt(row, offset, this.#search(row, offset, tail, before, excess))
    return answer(quota, cost, at, used, freed + spanMs - clock, reset, full)
  }

  commit(state: number, quota: Quota, cost: number, at: number): void {
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    const newest = row[offset + NEWEST] as number
    const cut = at - quota.spanMs
    const tick = tickOf(at, quota.resolutionMs)
    if (newest <= cut) this.#restart(row, offset, tick, 0)
    else if (at < newest) this.#restart(row, offset, tick, this.#live(row, offset, newest - quota.spanMs))
    else if ((row[offset + OLDEST] as number) <= cut) this.#drop(row, offset, cut)
    if (cost > 0) this.#append(row, offset, tick, cost)
  }

  unsettled(state: number, at: number): boolean {
    return state !== UNTOUCHED && at < (this.#rows.page(state)[offsetOf(state) + NEWEST] as number)
  }

  idle(state: number, quota: Quota, clock: number): boolean {
    return (this.#rows.page(state)[offsetOf(state) + NEWEST] as number) <= clock - quota.spanMs
  }

  refund(state: number, quota: Quota, cost: number, clock: number, of: Admission | undefined): number {
    const { spanMs, resolutionMs } = quota
    const row = this.#rows.page(state)
    const offset = offsetOf(state)
    const newest = row[offset + NEWEST] as number
    const cameRight = newest - clock > spanMs
    const cut = Math.max(newest, clock) - spanMs
    if (cost === 0 || newest <= cut) return 0
    // Nothing is written before it is known that there is something to give back.
    const time = of?.at === undefined ? undefined : tickOf(of.at, resolutionMs)
    if (of !== undefined && time === undefined) return 0
    if (time !== undefined && !(cameRight ? time === tickOf(clock, resolutionMs) : this.#has(row, offset, time, cut)))
      return 0
    if (cameRight) this.commit(state, quota, 0, clock)
    else if ((row[offset + OLDEST] as number) <= cut) this.#drop(row, offset, cut)
    return time === undefined ? this.#refundOldest(row, offset, cost) : this.#refundAt(row, offset, cost, time)
  }

  /** Whether there is an entry of this time, and it is later than `cut`. */
  #has(row: Float64Array, offset: number, time: number, cut: number): boolean {
    return time > cut && this.#timeAt(row, offset, this.#find(row, offset, time)) === time
  }

  /** The first entry from `time` on, else the newest. */
  #find(row: Float64Array, offset: number, time: number): number {
    return time <= (row[offset + OLDEST] as number)
      ? (row[offset + TAIL] as number)
      : this.#advance(row, offset, time - 1)
  }

  /** The log then begins later, perhaps within an entry. */
  #refundOldest(row: Float64Array, offset: number, cost: number): number {
    const before = row[offset + BEFORE] as number
    const used = ((row[offset + TOTAL] as number) - before) >>> 0
    if (cost >= used) {
      this.#empty(row, offset)
      return used
    }
    const tail = this.#search(row, offset, row[offset + TAIL] as number, before, cost + 1)
    row[offset + BEFORE] = (before + cost) >>> 0
    row[offset + TAIL] = tail
    row[offset + OLDEST] = this.#timeAt(row, offset, tail)
    return cost
  }

  #refundAt(row: Float64Array, offset: number, cost: number, time: number): number {
    const tail = row[offset + TAIL] as number
    const length = row[offset + LENGTH] as number
    const log = row[offset + LOG] as number
    const index = this.#find(row, offset, time)
    const previous = index === tail ? (row[offset + BEFORE] as number) : this.#logs.totalAt(log, index - 1)
    const own = ((index === length ? (row[offset + TOTAL] as number) : this.#logs.totalAt(log, index)) - previous) >>> 0
    const refunded = Math.min(cost, own)
    row[offset + TOTAL] = ((row[offset + TOTAL] as number) - refunded) >>> 0
    this.#logs.subtract(log, index, length, refunded)
    if (refunded < own) return refunded
    if (tail === length) this.#empty(row, offset)
    else this.#remove(row, offset, index)
    return refunded
  }

  /** Takes an entry out; there are others. */
  #remove(row: Float64Array, offset: number, index: number): void {
    const log = row[offset + LOG] as number
    const length = row[offset + LENGTH] as number
    if (index === length) row[offset + NEWEST] = this.#logs.timeAt(log, length - 1)
    else this.#logs.remove(log, index, length)
    row[offset + LENGTH] = length - 1
    row[offset + OLDEST] = this.#timeAt(row, offset, row[offset + TAIL] as number)
  }

  #empty(row: Float64Array, offset: number): void {
    this.#restart(row, offset, Number.NEGATIVE_INFINITY, 0)
  }

  /** The cost admitted after `cut`. */
  #live(row: Float64Array, offset: number, cut: number): number {
    const before =
      (row[offset + OLDEST] as number) <= cut
        ? this.#logs.totalAt(row[offset + LOG] as number, this.#advance(row, offset, cut) - 1)
        : (row[offset + BEFORE] as number)
    return ((row[offset + TOTAL] as number) - before) >>> 0
  }

  /** Starts anew with what is `carried` over as one entry. */
  #restart(row: Float64Array, offset: number, at: number, carried: number): void {
    this.#logs.release(row[offset + LOG] as number, row[offset + CAPACITY] as number)
    row.fill(0, offset, offset + CAPACITY + 1)
    row[offset + NEWEST] = at
    row[offset + OLDEST] = at
    row[offset + TOTAL] = carried
  }

  #append(row: Float64Array, offset: number, at: number, cost: number): void {
    const newest = row[offset + NEWEST] as number
    const total = row[offset + TOTAL] as number
    row[offset + TOTAL] = (total + cost) >>> 0
    if (at === newest) return
    row[offset + NEWEST] = at
    if (row[offset + LENGTH] === row[offset + CAPACITY]) this.#makeRoom(row, offset)
    this.#logs.write(row[offset + LOG] as number, row[offset + LENGTH] as number, newest, total)
    ;(row[offset + LENGTH] as number)++
  }

  #drop(row: Float64Array, offset: number, cut: number): void {
    const tail = this.#advance(row, offset, cut)
    row[offset + BEFORE] = this.#logs.totalAt(row[offset + LOG] as number, tail - 1)
    row[offset + OLDEST] = this.#timeAt(row, offset, tail)
    row[offset + TAIL] = tail
    const capacity = row[offset + CAPACITY] as number
    // A log that was long once does not stay so.
    if (capacity >= LARGE && ((row[offset + LENGTH] as number) - tail) * 4 < capacity) this.#makeRoom(row, offset)
  }

  /** The log is full: what has ended at its front is cut off, and it is made larger where that frees too little. */
  #makeRoom(row: Float64Array, offset: number): void {
    const tail = row[offset + TAIL] as number
    const live = (row[offset + LENGTH] as number) - tail
    const log = row[offset + LOG] as number
    const capacity = row[offset + CAPACITY] as number
    const larger = this.#logs.capacityFor(live)
    row[offset + LOG] = this.#logs.move(log, tail, live, capacity, larger)
    row[offset + CAPACITY] = larger
    row[offset + TAIL] = 0
    row[offset + LENGTH] = live
  }

  /** The first entry later than `cut`. There is one: the newest. */
  #advance(row: Float64Array, offset: number, cut: number): number {
    const low = (row[offset + TAIL] as number) + 1
    const length = row[offset + LENGTH] as number
    return low >= length ? length : this.#logs.firstAfter(row[offset + LOG] as number, low, length, cut)
  }

  /** The first entry whose end, with those before it, frees at least `excess`; the newest if none before it does. */
  #search(row: Float64Array, offset: number, tail: number, before: number, excess: number): number {
    return this.#logs.firstFreeing(row[offset + LOG] as number, tail, row[offset + LENGTH] as number, before, excess)
  }

  #timeAt(row: Float64Array, offset: number, index: number): number {
    return index === row[offset + LENGTH]
      ? (row[offset + NEWEST] as number)
      : this.#logs.timeAt(row[offset + LOG] as number, index)
  }
}

/** The beginning of the tick that a time falls in: ticks are aligned to the epoch. */
function tickOf(time: number, resolutionMs: number): number {
  return resolutionMs === 1 ? time : time - (time % resolutionMs)
}

/** `wait` is until the excess is freed; `reset` is as it stands, `full` as it is after an admission. */
function answer(
  quota: Quota,
  cost: number,
  at: number,
  used: number,
  wait: number,
  reset: number,
  full: number,
): RuleDecision {
  if (used + cost <= quota.limit) return admitted(quota, used + cost, cost === 0 ? reset : full, at)
  return refused(quota, cost, used, cost > quota.limit ? null : wait, reset, at)
}
