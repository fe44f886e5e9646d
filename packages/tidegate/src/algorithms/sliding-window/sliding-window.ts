import type { Verdict } from '../../decision.ts'
import type { Algorithm, Quota } from '../algorithm.ts'

/**
 * The exact sliding window (also called a sliding window log): a request is admitted at t if the
 * cost admitted in (t - window, t], plus its own, is at most the limit. An admission at s counts
 * while t < s + window.
 *
 * What was admitted is kept as a log of (time, running total), equal milliseconds merged into one
 * entry. With running totals the used cost is one subtraction, and the wait of a weighted request
 * one binary search. Totals are kept modulo 2^32, as in Redis; their differences never reach it.
 */
export interface SlidingWindowState {
  /** Time of the newest entry; -1 where there is none. */
  newest: number
  /** Running total of the newest entry. */
  total: number
  /** Running total before the oldest entry that counted when the state was last written. */
  before: number
  /** Time of that oldest entry. */
  oldest: number
  /** Where that oldest entry stands in the log. */
  tail: number
  /** time, total, time, total, … */
  log: number[]
}

/** Entries dropped from the front are cut off once they are more than half, and more than this. */
const SPARE = 64

export const slidingWindow: Algorithm<SlidingWindowState> = {
  untouched: () => ({ newest: -1, total: 0, before: 0, oldest: -1, tail: 0, log: [] }),

  touched: (state) => state.newest >= 0,

  evaluate(state, quota, cost, clock) {
    const { newest } = state
    const { limit, windowMs } = quota
    if (newest < 0) return verdict(limit, cost, clock, 0, 0, 0, windowMs)
    let at = clock
    if (clock < newest) {
      if (newest - clock > windowMs) return evaluateRebased(state, quota, cost, clock)
      at = newest
    }
    const cut = at - windowMs
    if (newest <= cut) return verdict(limit, cost, at, 0, 0, 0, windowMs)
    let { before, tail } = state
    if (state.oldest <= cut) {
      tail = firstLive(state, cut)
      before = totalAt(state, tail - 1)
    }
    const used = (state.total - before) >>> 0
    const excess = used + cost - limit
    const reset = newest + windowMs - clock
    const full = at + windowMs - clock
    if (excess <= 0 || cost > limit) return verdict(limit, cost, at, used, 0, reset, full)
    const freed = excess === 1 ? tail : firstFreeing(state, tail, before, excess)
    return verdict(limit, cost, at, used, timeAt(state, freed) + windowMs - clock, reset, full)
  },

  commit(state, quota, cost, at) {
    const { newest } = state
    if (at < newest) restart(state, at, liveAt(state, newest - quota.windowMs))
    else if (newest <= at - quota.windowMs) restart(state, -1, 0)
    else if (state.oldest <= at - quota.windowMs) drop(state, at - quota.windowMs)
    if (cost > 0) append(state, at, cost)
  },

  unsettled: (state, at) => at < state.newest,

  idle: (state, quota, clock) => state.newest <= clock - quota.windowMs,
}

/** The clock came right after having been far ahead: what is live counts as made now. */
function evaluateRebased(state: SlidingWindowState, quota: Quota, cost: number, clock: number): Verdict {
  const { limit, windowMs } = quota
  return verdict(limit, cost, clock, liveAt(state, state.newest - windowMs), windowMs, windowMs, windowMs)
}

/** `wait` is until the excess is freed; `reset` is as it stands, `full` as it is after an admission. */
function verdict(
  limit: number,
  cost: number,
  at: number,
  used: number,
  wait: number,
  reset: number,
  full: number,
): Verdict {
  if (used + cost <= limit) {
    return { allowed: true, used: used + cost, retryAfterMs: 0, resetAfterMs: cost === 0 ? reset : full, at }
  }
  return { allowed: false, used, retryAfterMs: cost > limit ? null : wait, resetAfterMs: reset, at }
}

/** The cost admitted after `cut`. */
function liveAt(state: SlidingWindowState, cut: number): number {
  const before = state.oldest <= cut ? totalAt(state, firstLive(state, cut) - 1) : state.before
  return (state.total - before) >>> 0
}

function append(state: SlidingWindowState, at: number, cost: number): void {
  const { log } = state
  state.total = (state.total + cost) >>> 0
  if (at === state.newest) {
    log[log.length - 1] = state.total
    return
  }
  if (log.length === 0) state.oldest = at
  state.newest = at
  log.push(at, state.total)
}

/** Starts anew with one entry of what is `carried` over, or with none. */
function restart(state: SlidingWindowState, at: number, carried: number): void {
  state.newest = at
  state.oldest = at
  state.before = 0
  state.total = carried
  state.tail = 0
  state.log = at < 0 ? [] : [at, carried]
}

function drop(state: SlidingWindowState, cut: number): void {
  const tail = firstLive(state, cut)
  state.before = totalAt(state, tail - 1)
  state.oldest = timeAt(state, tail)
  state.tail = tail
  if (tail > SPARE && tail * 4 > state.log.length) {
    state.log = state.log.slice(tail * 2)
    state.tail = 0
  }
}

/** The first entry later than `cut`. There is one: the newest. */
function firstLive(state: SlidingWindowState, cut: number): number {
  const { log } = state
  let low = state.tail + 1
  // Most often the very next one.
  if ((log[low * 2] as number) > cut) return low
  let high = log.length / 2 - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((log[middle * 2] as number) > cut) high = middle
    else low = middle + 1
  }
  return low
}

/** The first entry whose end, with those before it, frees at least `excess`. */
function firstFreeing(state: SlidingWindowState, tail: number, before: number, excess: number): number {
  let low = tail
  let high = state.log.length / 2 - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((totalAt(state, middle) - before) >>> 0 >= excess) high = middle
    else low = middle + 1
  }
  return low
}

function timeAt(state: SlidingWindowState, index: number): number {
  return state.log[index * 2] as number
}

function totalAt(state: SlidingWindowState, index: number): number {
  return state.log[index * 2 + 1] as number
}
