import type { Span, Windows } from '../quota.ts'
import { firstSecond, type Offset, offsetIn } from './zone.ts'

export { checkTimeZone } from './zone.ts'

export const CALENDAR_UNITS = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const
export type CalendarUnit = (typeof CALENDAR_UNITS)[number]

/**
 * Windows that follow the calendar of a zone. They tile time: every instant is in exactly one, and where
 * one ends the next starts. A window that began before the epoch is given as starting at 0, because a
 * state holds no earlier time; the last one ends after the latest time that a state can hold.
 */
export interface Calendar extends Windows {
  /** The window that `time` (whole ms since the epoch, 0 … 2^48-1) falls in. */
  at(time: number): Span
  /**
   * The starts of the previous, the current and the next window at `time`, and the end of the next: four
   * ascending times. Only before the second window do the first two coincide, both at 0.
   */
  edges(time: number): readonly [number, number, number, number]
}

const DAY = 86_400_000
const SIZES = { minute: 60_000, hour: 3_600_000 }

/** Local midnight, as if it were UTC, of the first date of the unit `steps` after the one that a local date is in. */
type FirstDate = (local: Date, steps: number) => number

const FIRST_DATES: Record<Exclude<CalendarUnit, keyof typeof SIZES>, FirstDate> = {
  day: (local, steps) => Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate() + steps),
  // From Monday, as in ISO 8601: Sunday, the 0th here, is the last day.
  week: (local, steps) =>
    Date.UTC(
      local.getUTCFullYear(),
      local.getUTCMonth(),
      local.getUTCDate() - ((local.getUTCDay() + 6) % 7) + 7 * steps,
    ),
  month: (local, steps) => Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + steps),
  year: (local, steps) => Date.UTC(local.getUTCFullYear() + steps, 0),
}

/**
 * The calendar of a zone, in windows of one unit of the Gregorian calendar.
 *
 * - `day`, `week` (from Monday), `month`, `year`: a window starts at the first instant at which the local
 *   date has come to its first date. That is 0:00, the first of two, or the end of the gap that skips it.
 *   A clock set back from a new day into the old one stays in the window of the new one; a date that a
 *   zone leaves out has none. So a day has 23, 24, 25 or some other number of hours.
 * - `hour`, `minute`: a window starts where the local clock shows a whole one. An hour that the clock
 *   repeats is a window of its own. Where the clock is changed by part of a unit (Australia/Lord_Howe, by
 *   30 minutes), the window is cut there, and the next one is shorter too.
 *
 * Offsets come from the runtime, so that machines with different copies of the time zone database may
 * differ about a change that was decreed lately. `at` and `edges` keep what they last answered: a time
 * in the same window costs two comparisons, another one up to some hundred microseconds.
 * @throws TidegateError `ERR_INVALID_OPTION` when this runtime knows no such zone.
 */
export function calendar(unit: CalendarUnit, timeZone: string): Calendar {
  const offsetAt = offsetIn(timeZone)
  const spanAt = (time: number): Span => {
    const { start, end } =
      unit === 'minute' || unit === 'hour'
        ? clockSpan(time, SIZES[unit], offsetAt)
        : dateSpan(time, FIRST_DATES[unit], offsetAt)
    return { start: Math.max(0, start), end }
  }

  let span: Span = { start: 0, end: 0 }
  let edges: readonly [number, number, number, number] = [0, 0, 0, 0]
  const at = (time: number): Span => {
    if (time < span.start || time >= span.end) span = spanAt(time)
    return span
  }
  return {
    at,
    edges(time) {
      if (time < edges[1] || time >= edges[2]) {
        const { start, end } = at(time)
        edges = [start === 0 ? 0 : spanAt(start - 1).start, start, end, spanAt(end).end]
      }
      return edges
    },
  }
}

/** The window between two whole units of the clock, cut where the clock leaves its grid or joins it. */
function clockSpan(time: number, size: number, offsetAt: Offset): Span {
  // Most changes are by whole units, and leave the grid where it was.
  const gridAt = (instant: number) => modulo(offsetAt(instant), size)
  const grid = gridAt(time)
  const isOn = (instant: number) => gridAt(instant) === grid
  const start = time - modulo(time + grid, size)
  const end = start + size
  return {
    start: isOn(start) ? start : firstSecond(start, time, isOn),
    end: isOn(end - 1) ? end : firstSecond(time, end - 1, (instant) => !isOn(instant)),
  }
}

/** The window between the first instants of two dates. */
function dateSpan(time: number, firstDate: FirstDate, offsetAt: Offset): Span {
  const local = new Date(time + offsetAt(time))
  let start = firstInstant(firstDate(local, 0), offsetAt)
  let end = firstInstant(firstDate(local, 1), offsetAt)
  // Where the clock was set back over midnight, the date is the old one once more, its window over.
  for (let steps = 2; end <= time; steps += 1) {
    start = end
    end = firstInstant(firstDate(local, steps), offsetAt)
  }
  return { start, end }
}

/**
 * The first instant at which the local clock shows `local` (ms, as if it were UTC) or later. Offsets are
 * below a day, so that it lies within a day of `local`; since 1970 no zone has changed its own twice in a week.
 */
function firstInstant(local: number, offsetAt: Offset): number {
  const before = offsetAt(local - DAY)
  const after = offsetAt(local + DAY)
  if (before === after) return local - before
  const change = firstSecond(local - DAY, local + DAY, (instant) => offsetAt(instant) !== before)
  return local - before < change ? local - before : Math.max(change, local - after)
}

function modulo(value: number, size: number): number {
  return ((value % size) + size) % size
}
