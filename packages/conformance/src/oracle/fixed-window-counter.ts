import type { LimitOptions } from 'tidegate'
import type { Admission, Span } from 'tidegate/store'
import { calendarWindow } from './calendar-window.ts'
import type { Counter, LimitedRule, Verdict } from './counter.ts'

interface Admitted {
  readonly at: number
  readonly cost: number
  /** The window that it counts in. */
  readonly window: Span
}

/** Every admission is remembered with the window that it was made in, and counted again for each decision. */
export class FixedWindowCounter implements Counter {
  #limit: number
  readonly #windowOf: (time: number) => Span
  #admitted: readonly Admitted[] = []

  constructor({ limit, ...alignment }: LimitOptions) {
    this.#limit = limit
    this.#windowOf = windowsOf(alignment)
  }

  follow({ limit }: LimitedRule): void {
    this.#limit = limit
  }

  admits(cost: number, clock: number): boolean {
    return sum(this.#live(clock)) + cost <= this.#limit
  }

  verdict(cost: number, charged: number, clock: number): Verdict {
    const at = this.#time(clock)
    const live = this.#live(clock)
    const counting = charged > 0 ? [...live, { at, cost: charged, window: this.#windowAt(at) }] : live
    const used = sum(counting)
    const resetAfterMs = Math.max(clock, ...counting.map(({ window }) => window.end)) - clock
    if (this.admits(cost, clock)) return { allowed: true, used, retryAfterMs: 0, resetAfterMs, at, reason: 'ok' }
    if (cost > this.#limit)
      return { allowed: false, used, retryAfterMs: null, resetAfterMs, at, reason: 'cost_exceeds_limit' }
    // One after the other they end; the first end after which the rest leaves room is the wait.
    const ends = live.map(({ window }) => window.end).sort((a, b) => a - b)
    const rest = (end: number) => sum(live.filter(({ window }) => window.end > end))
    const end = ends.find((one) => rest(one) + cost <= this.#limit) as number
    return { allowed: false, used, retryAfterMs: end - clock, resetAfterMs, at, reason: 'over_limit' }
  }

  admit(cost: number, clock: number): void {
    const at = this.#time(clock)
    // No decision is made before the newest admission: what ended by then never counts again.
    this.#admitted = [...this.#liveAt(at), { at, cost, window: this.#windowAt(at) }]
  }

  comeRight(clock: number): void {
    if (this.#cameRight(clock)) this.#admitted = this.#live(clock)
  }

  /** An admission is given back in the window that it was made in, whose admissions are not told apart. */
  refund(cost: number, clock: number, of: Admission | undefined): number {
    const kept: Admitted[] = []
    let left = cost
    for (const one of this.#liveAt(Math.max(this.#newest(), clock))) {
      const { start, end } = one.window
      const isMeant = of === undefined || (of.at !== undefined && of.at >= start && of.at < end)
      const given = isMeant ? Math.min(left, one.cost) : 0
      left -= given
      if (one.cost > given) kept.push({ ...one, cost: one.cost - given })
    }
    if (left < cost) this.#admitted = kept
    return cost - left
  }

  /** The window of a time: the one that is running, else a new one. */
  #windowAt(at: number): Span {
    return this.#live(at)[0]?.window ?? this.#windowOf(at)
  }

  /** The time of the decision: never before the newest admission, unless that is further ahead than its window is long. */
  #time(clock: number): number {
    return this.#cameRight(clock) ? clock : Math.max(this.#newest(), clock)
  }

  #cameRight(clock: number): boolean {
    const newest = this.#newest()
    return this.#admitted.some(({ at, window }) => at === newest && at - clock > window.end - window.start)
  }

  #newest(): number {
    return Math.max(-1, ...this.#admitted.map(({ at }) => at))
  }

  /** The admissions that count, as they count: where the clock came right, those live at the newest count as made now. */
  #live(clock: number): readonly Admitted[] {
    const live = this.#liveAt(Math.max(this.#newest(), clock))
    if (!this.#cameRight(clock)) return live
    return live.map(({ cost }) => ({ at: clock, cost, window: this.#windowOf(clock) }))
  }

  #liveAt(time: number): readonly Admitted[] {
    return this.#admitted.filter(({ window }) => time < window.end)
  }
}

/** Times already asked about are answered by the windows found for them: Temporal is slow. */
const found = new Map<string, Span[]>()

function windowsOf({ window, align = 'epoch', timeZone = 'UTC' }: Omit<LimitOptions, 'limit'>): (time: number) => Span {
  const length = window as number
  if (align === 'first-hit') return (time) => ({ start: time, end: time + length })
  if (align === 'epoch') {
    return (time) => {
      const before = Math.floor(time / length)
      return { start: before * length, end: (before + 1) * length }
    }
  }
  const known = found.get(`${align} ${timeZone}`) ?? []
  found.set(`${align} ${timeZone}`, known)
  return (time) => {
    const one = known.find(({ start, end }) => start <= time && time < end) ?? calendarWindow(align, timeZone, time)
    if (!known.includes(one)) known.unshift(one)
    if (known.length > 20) known.pop()
    return one
  }
}

function sum(admitted: readonly Admitted[]): number {
  return admitted.reduce((total, { cost }) => total + cost, 0)
}
