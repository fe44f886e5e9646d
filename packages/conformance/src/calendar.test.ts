import fc from 'fast-check'
import { calendar } from 'tidegate/store'
import { describe, expect, it } from 'vitest'
import { clockWindow, type DateUnit, dateWindow, zoned } from './oracle/calendar-window.ts'

const BEGIN = 0
const END = Date.UTC(2100, 0)
const ZONES = Intl.supportedValuesOf('timeZone')
const HOUR = 3_600_000

const DATE_UNITS: readonly DateUnit[] = ['day', 'week', 'month', 'year']

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
