import fc from 'fast-check'
import { Temporal } from 'temporal-polyfill'
import { type CalendarUnit, calendar, type Span } from 'tidegate/store'
import { describe, expect, it } from 'vitest'

/**
 * The calendar against Temporal, which finds the start of a day by other means. What the two share is
 * the runtime's copy of the time zone database.
 */
const BEGIN = 0
const END = Date.UTC(2100, 0)
const ZONES = Intl.supportedValuesOf('timeZone')
const SECOND = 1000
const HOUR = 3600 * SECOND

type DateUnit = Exclude<CalendarUnit, 'minute' | 'hour'>
const DATE_UNITS: readonly DateUnit[] = ['day', 'week', 'month', 'year']

const FIRST_DATE: Record<DateUnit, (date: Temporal.PlainDate) => Temporal.PlainDate> = {
  day: (date) => date,
  week: (date) => date.subtract({ days: date.dayOfWeek - 1 }),
  month: (date) => date.with({ day: 1 }),
  year: (date) => date.with({ month: 1, day: 1 }),
}

function zoned(time: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone)
}

/** The window of dates: between the starts of two days, of which the first has come and the second not. */
function dateWindow(unit: DateUnit, zone: string, time: number): Span {
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
function clockWindow(unit: 'hour' | 'minute', zone: string, time: number): Span {
  const size = unit === 'hour' ? HOUR : 60 * SECOND
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

/** Changes of the clock in a zone, in ms since the epoch: the first of each kind, by offsets and time of day. */
function changes(zone: string, until: number): number[] {
  const kinds = new Map<string, number>()
  let change = zoned(BEGIN, zone).getTimeZoneTransition('next')
  while (change !== null && change.epochMilliseconds < until) {
    const kind = `${change.subtract({ milliseconds: 1 }).offset} ${change.offset} ${change.toPlainTime()}`
    if (!kinds.has(kind)) kinds.set(kind, change.epochMilliseconds)
    change = change.getTimeZoneTransition('next')
  }
  return [...kinds.values()]
}

describe('the calendar and Temporal agree', () => {
  it.each(DATE_UNITS)('about the %s, at random times in random zones', { timeout: 120_000 }, (unit) => {
    const agreeing = fc.property(fc.constantFrom(...ZONES), fc.integer({ min: BEGIN, max: END }), (zone, time) => {
      expect(calendar(unit, zone).at(time)).toEqual(dateWindow(unit, zone, time))
    })
    fc.assert(agreeing, { numRuns: 3000 })
  })

  it('about the days and hours around every kind of change of the clock', { timeout: 120_000 }, () => {
    let compared = 0
    const differences: string[] = []
    for (const zone of ZONES) {
      const day = calendar('day', zone)
      const hour = calendar('hour', zone)
      for (const change of changes(zone, Date.UTC(2026, 0))) {
        for (const time of [change - HOUR, change - 1, change, change + HOUR / 2, change + HOUR]) {
          const pairs = [
            [day.at(time), dateWindow('day', zone, time)],
            [hour.at(time), clockWindow('hour', zone, time)],
          ] as const
          for (const [actual, expected] of pairs) {
            compared += 1
            if (actual.start === expected.start && actual.end === expected.end) continue
            differences.push(`${zone} at ${time}: ${JSON.stringify(actual)}, Temporal ${JSON.stringify(expected)}`)
          }
        }
      }
    }
    expect(differences).toEqual([])
    expect(compared).toBeGreaterThan(10_000)
  })

  it.each(['hour', 'minute'] as const)('about the %s, at random times in random zones', (unit) => {
    const agreeing = fc.property(fc.constantFrom(...ZONES), fc.integer({ min: BEGIN, max: END }), (zone, time) => {
      expect(calendar(unit, zone).at(time)).toEqual(clockWindow(unit, zone, time))
    })
    fc.assert(agreeing, { numRuns: 500 })
  })
})
