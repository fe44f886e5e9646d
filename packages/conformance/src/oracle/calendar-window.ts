import { Temporal } from 'temporal-polyfill'
import type { CalendarUnit, Span } from 'tidegate/store'

/**
 * The windows of a calendar by way of Temporal, which finds the start of a day and the changes of a clock by other means
 * than the calendar of the library. What the two share is the runtime's copy of the time zone database.
 */
export type DateUnit = Exclude<CalendarUnit, 'minute' | 'hour'>

const FIRST_DATE: Record<DateUnit, (date: Temporal.PlainDate) => Temporal.PlainDate> = {
  day: (date) => date,
  week: (date) => date.subtract({ days: date.dayOfWeek - 1 }),
  month: (date) => date.with({ day: 1 }),
  year: (date) => date.with({ month: 1, day: 1 }),
}

export function zoned(time: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone)
}

/** The window of a unit that `time`, ms since the epoch, falls in. */
export function calendarWindow(unit: CalendarUnit, zone: string, time: number): Span {
  return unit === 'minute' || unit === 'hour' ? clockWindow(unit, zone, time) : dateWindow(unit, zone, time)
}

/** The window of dates: between the starts of two days, of which the first has come and the second not. */
export function dateWindow(unit: DateUnit, zone: string, time: number): Span {
  const startOf = (date: Temporal.PlainDate) => date.toZonedDateTime(zone).startOfDay().epochMilliseconds
  let first = FIRST_DATE[unit](zoned(time, zone).toPlainDate())
  let next = first.add({ [`${unit}s`]: 1 })
  while (startOf(next) <= time) {
    first = next
    next = next.add({ [`${unit}s`]: 1 })
  }
  return { start: Math.max(0, startOf(first)), end: startOf(next) }
}

/** The hour or minute: from one whole unit to the next, within the times in which the clock keeps to one grid. */
export function clockWindow(unit: 'hour' | 'minute', zone: string, time: number): Span {
  const size = unit === 'hour' ? 3_600_000 : 60_000
  const here = zoned(time, zone)
  const offset = here.offsetNanoseconds / 1e6
  const start = Math.floor((time + offset) / size) * size - offset
  const isOnGrid = (other: Temporal.ZonedDateTime) => (other.offsetNanoseconds / 1e6 - offset) % size === 0
  // A change that takes effect at `here` itself is only found from a later time.
  const last = here.add({ milliseconds: 1 }).getTimeZoneTransition('previous')
  const next = here.getTimeZoneTransition('next')
  const cutsStart = last !== null && last.epochMilliseconds > start && !isOnGrid(last.subtract({ milliseconds: 1 }))
  const cutsEnd = next !== null && next.epochMilliseconds < start + size && !isOnGrid(next)
  return {
    start: Math.max(0, cutsStart ? last.epochMilliseconds : start),
    end: cutsEnd ? next.epochMilliseconds : start + size,
  }
}
