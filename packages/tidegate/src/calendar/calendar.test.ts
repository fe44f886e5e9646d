import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_TIME_MS } from '../clock.ts'
import { TidegateError } from '../errors.ts'
import { CALENDAR_UNITS, type CalendarUnit, calendar, checkTimeZone } from './calendar.ts'

const HOUR = 3_600_000

/** The window as its start, in UTC, and its length in hours. */
function windowAt(unit: CalendarUnit, zone: string, time: string): [start: string, hours: number] {
  const { start, end } = calendar(unit, zone).at(Date.parse(time))
  return [new Date(start).toISOString().replace(':00.000', ''), (end - start) / HOUR]
}

describe('a day', () => {
  it.each([
    ['UTC', '2024-02-29T23:59:59.999Z', '2024-02-29T00:00Z', 24],
    ['Europe/Berlin', '2024-03-31T12:00Z', '2024-03-30T23:00Z', 23],
    ['Europe/Berlin', '2024-10-27T12:00Z', '2024-10-26T22:00Z', 25],
    ['America/New_York', '2024-03-10T12:00Z', '2024-03-10T05:00Z', 23],
    ['America/New_York', '2024-11-03T12:00Z', '2024-11-03T04:00Z', 25],
    ['Asia/Kathmandu', '2024-01-01T12:00Z', '2023-12-31T18:15Z', 24],
    ['Australia/Lord_Howe', '2024-04-06T15:15Z', '2024-04-06T13:00Z', 24.5],
    ['Australia/Lord_Howe', '2024-10-06T12:00Z', '2024-10-05T13:30Z', 23.5],
    // 0:00 to 1:00 is left out: the day begins at 1:00.
    ['America/Sao_Paulo', '2017-10-15T12:00Z', '2017-10-15T03:00Z', 23],
    ['Africa/Cairo', '2023-04-28T12:00Z', '2023-04-27T22:00Z', 23],
    ['Asia/Beirut', '2022-03-27T12:00Z', '2022-03-26T22:00Z', 23],
    // At 0:00 back to 23:00 of the same day.
    ['America/Sao_Paulo', '2018-02-18T02:30Z', '2018-02-17T02:00Z', 25],
    ['Africa/Cairo', '2023-10-26T20:59Z', '2023-10-25T21:00Z', 25],
    ['Asia/Beirut', '2022-10-29T20:59Z', '2022-10-28T21:00Z', 25],
    // At 1:00 back to 0:00: the first midnight counts.
    ['America/Havana', '2023-11-05T05:30Z', '2023-11-05T04:00Z', 25],
    // At 0:01 back to 23:01 of the day before: its last 59 minutes come twice, and are the new day's then.
    ['America/St_Johns', '2010-11-07T02:29Z', '2010-11-06T02:30Z', 24],
    ['America/St_Johns', '2010-11-07T02:30Z', '2010-11-07T02:30Z', 25],
    ['America/St_Johns', '2010-11-07T03:00Z', '2010-11-07T02:30Z', 25],
    // From 0:01 to 1:01.
    ['America/St_Johns', '2010-03-14T12:00Z', '2010-03-14T03:30Z', 23],
    // From the end of the 29th to the start of the 31st.
    ['Pacific/Apia', '2011-12-30T09:59Z', '2011-12-29T10:00Z', 24],
    ['Pacific/Apia', '2011-12-30T10:00Z', '2011-12-30T10:00Z', 24],
    // Local mean time ended at 0:00, which became 0:44:30.
    ['Africa/Monrovia', '1972-01-06T12:00Z', '1972-01-06T00:44:30.000Z', 24],
    ['Africa/Monrovia', '1972-01-07T12:00Z', '1972-01-07T00:44:30.000Z', 24 - 44.5 / 60],
  ])('in %s at %s starts at %s and has %d hours', (zone, time, start, hours) => {
    expect(windowAt('day', zone, time)).toEqual([start, hours])
  })
})

describe('a longer unit', () => {
  it.each<[CalendarUnit, string, string, string, number]>([
    ['week', 'UTC', '2024-12-31T12:00Z', '2024-12-30T00:00Z', 7],
    ['week', 'UTC', '2025-01-05T23:59Z', '2024-12-30T00:00Z', 7],
    ['week', 'UTC', '2025-01-06T00:00Z', '2025-01-06T00:00Z', 7],
    ['week', 'Europe/Berlin', '2024-03-31T21:59Z', '2024-03-24T23:00Z', 7 - 1 / 24],
    ['week', 'Pacific/Apia', '2011-12-30T12:00Z', '2011-12-26T10:00Z', 6],
    ['month', 'UTC', '2024-02-29T12:00Z', '2024-02-01T00:00Z', 29],
    ['month', 'UTC', '2023-02-28T12:00Z', '2023-02-01T00:00Z', 28],
    ['month', 'UTC', '2100-02-28T12:00Z', '2100-02-01T00:00Z', 28],
    ['month', 'America/New_York', '2024-12-01T04:59Z', '2024-11-01T04:00Z', 30 + 1 / 24],
    ['month', 'Pacific/Apia', '2011-12-30T12:00Z', '2011-12-01T10:00Z', 30],
    ['year', 'UTC', '2000-12-31T23:59Z', '2000-01-01T00:00Z', 366],
    ['year', 'UTC', '2023-06-01T00:00Z', '2023-01-01T00:00Z', 365],
    ['year', 'Asia/Tokyo', '2023-12-31T15:00Z', '2023-12-31T15:00Z', 366],
    ['year', 'Pacific/Apia', '2011-12-30T12:00Z', '2011-01-01T10:00Z', 364],
  ])('%s in %s at %s starts at %s and has %d days', (unit, zone, time, start, days) => {
    expect(windowAt(unit, zone, time)).toEqual([start, days * 24])
  })
})

describe('an hour', () => {
  it.each([
    ['UTC', '2024-01-01T11:59:59.999Z', '2024-01-01T11:00Z', 1],
    ['Asia/Kathmandu', '2024-01-01T11:00Z', '2024-01-01T10:15Z', 1],
    // 2:00 to 3:00 comes twice, and is two windows.
    ['Europe/Berlin', '2024-10-27T00:30Z', '2024-10-27T00:00Z', 1],
    ['Europe/Berlin', '2024-10-27T01:30Z', '2024-10-27T01:00Z', 1],
    // At 2:00 back to 1:30, and from 2:00 to 2:30: half an hour each time.
    ['Australia/Lord_Howe', '2024-04-06T14:59Z', '2024-04-06T14:00Z', 1],
    ['Australia/Lord_Howe', '2024-04-06T15:00Z', '2024-04-06T15:00Z', 0.5],
    ['Australia/Lord_Howe', '2024-10-05T15:29Z', '2024-10-05T14:30Z', 1],
    ['Australia/Lord_Howe', '2024-10-05T15:30Z', '2024-10-05T15:30Z', 0.5],
    // A change by a whole hour, although at 0:01, leaves the hours where they were.
    ['America/St_Johns', '2010-11-07T02:30:30Z', '2010-11-07T02:30Z', 1],
    ['America/St_Johns', '2010-11-07T02:31:30Z', '2010-11-07T02:30Z', 1],
    ['Africa/Monrovia', '1972-01-07T00:44:29.999Z', '1972-01-06T23:44:30.000Z', 1],
    ['Africa/Monrovia', '1972-01-07T00:44:30Z', '1972-01-07T00:44:30.000Z', 15.5 / 60],
    // From 0:00 to 0:15.
    ['Asia/Kathmandu', '1985-12-31T18:30Z', '1985-12-31T18:30Z', 0.75],
    // At 0:00 back to 23:30, in the middle of an hour of the new offset.
    ['Asia/Pyongyang', '2015-08-14T15:15Z', '2015-08-14T15:00Z', 0.5],
    // From 23:30 to 24:00, in the middle of an hour of the old offset.
    ['Asia/Pyongyang', '2018-05-04T14:45Z', '2018-05-04T14:30Z', 0.5],
    ['Asia/Pyongyang', '2018-05-04T15:00Z', '2018-05-04T15:00Z', 1],
  ])('in %s at %s starts at %s and has %d hours', (zone, time, start, hours) => {
    expect(windowAt('hour', zone, time)).toEqual([start, hours])
  })
})

describe('a minute', () => {
  it.each([
    ['Asia/Kathmandu', '2024-01-01T11:00:59.999Z', '2024-01-01T11:00Z', 60],
    ['Africa/Monrovia', '1972-01-07T00:44:29Z', '1972-01-07T00:43:30.000Z', 60],
    ['Africa/Monrovia', '1972-01-07T00:44:30Z', '1972-01-07T00:44:30.000Z', 30],
    ['Africa/Monrovia', '1972-01-07T00:45:00Z', '1972-01-07T00:45Z', 60],
  ])('in %s at %s starts at %s and has %d seconds', (zone, time, start, seconds) => {
    expect(windowAt('minute', zone, time)).toEqual([start, seconds / 3600])
  })
})

describe('the ends of time', () => {
  it('begin at the epoch, whatever the zone', () => {
    expect(calendar('day', 'America/New_York').at(0)).toEqual({ start: 0, end: 5 * HOUR })
    expect(calendar('day', 'America/New_York').edges(0)).toEqual([0, 0, 5 * HOUR, 29 * HOUR])
    expect(calendar('day', 'Asia/Tokyo').edges(0)).toEqual([0, 0, 15 * HOUR, 39 * HOUR])
    expect(calendar('minute', 'Africa/Monrovia').edges(0)).toEqual([0, 0, 30_000, 90_000])
    expect(calendar('day', 'UTC').edges(24 * HOUR)).toEqual([0, 24 * HOUR, 48 * HOUR, 72 * HOUR])
  })

  it('end in the year 10889', () => {
    expect(windowAt('year', 'UTC', '+010889-08-02T05:31:50.655Z')).toEqual(['+010889-01-01T00:00Z', 365 * 24])
    const edges = calendar('day', 'America/New_York').edges(MAX_TIME_MS)
    expect(edges.map((time) => new Date(time).toISOString())).toEqual(
      ['01', '02', '03', '04'].map((day) => `+010889-08-${day}T04:00:00.000Z`),
    )
  })
})

describe('checkTimeZone', () => {
  it('gives the name as the runtime spells it', () => {
    expect(checkTimeZone('europe/berlin', 'timeZone')).toBe('Europe/Berlin')
    expect(checkTimeZone('UTC', 'timeZone')).toBe('UTC')
    expect(checkTimeZone('Etc/GMT+5', 'timeZone')).toBe('Etc/GMT+5')
  })

  it.each([['Europe/Atlantis'], [''], ['+01:00'], [' UTC'], ['UTC\0'], [undefined], [1], [{}]])(
    'refuses %j',
    (value) => {
      const expected = "an IANA time zone such as 'Europe/Berlin' or 'UTC'"
      const details = { code: 'ERR_INVALID_OPTION', field: 'rules[0].timeZone', expected }
      expect(() => checkTimeZone(value, 'rules[0].timeZone')).toThrow(expect.objectContaining(details))
      expect(() => calendar('day', value as string)).toThrow(TidegateError)
    },
  )
})

describe('any zone and unit', () => {
  const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const unit = fc.constantFrom(...CALENDAR_UNITS)
  // Mostly times at which zones had different ideas.
  const time = fc.oneof(
    { arbitrary: fc.integer({ min: 0, max: Date.UTC(2040, 0) }), weight: 3 },
    { arbitrary: fc.integer({ min: 0, max: MAX_TIME_MS }), weight: 1 },
  )
  const options = { numRuns: 1500 }

  it('tiles time, and holds the time that was asked for', () => {
    const tiles = fc.property(unit, zone, time, (unit, zone, time) => {
      const { at, edges } = calendar(unit, zone)
      const current = at(time)
      expect(current.start).toBeLessThanOrEqual(time)
      expect(current.end).toBeGreaterThan(time)
      const next = at(current.end)
      expect(next.start).toBe(current.end)
      expect(at(current.end - 1)).toEqual(current)
      expect(at(current.start)).toEqual(current)
      const previous = current.start === 0 ? { start: 0, end: 0 } : at(current.start - 1)
      expect(previous.end).toBe(current.start)
      expect(edges(time)).toEqual([previous.start, current.start, current.end, next.end])
      // From the next window, without having been asked about this one.
      expect(calendar(unit, zone).edges(current.end)[0]).toBe(current.start)
    })
    fc.assert(tiles, options)
  })

  it('answers the same whatever was asked before', () => {
    const same = fc.property(unit, zone, fc.array(time, { minLength: 2, maxLength: 6 }), (unit, zone, times) => {
      const one = calendar(unit, zone)
      for (const time of times) {
        expect(one.edges(time)).toEqual(calendar(unit, zone).edges(time))
        expect(one.at(time)).toEqual(calendar(unit, zone).at(time))
      }
    })
    fc.assert(same, { numRuns: 200 })
  })

  it('starts at the first instant of its first date, as the zone shows it', () => {
    const right = fc.property(zone, time, (zone, time) => {
      // Swedish dates are ISO 8601 ones.
      const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' })
      const isFirst = {
        day: () => true,
        week: (date: string) => new Date(date).getUTCDay() === 1,
        month: (date: string) => date.endsWith('-01'),
        year: (date: string) => date.endsWith('-01-01'),
      }
      for (const [unit, isFirstDate] of Object.entries(isFirst)) {
        const { start } = calendar(unit as CalendarUnit, zone).at(time)
        if (start === 0) continue
        const date = format.format(start).replace(/^(\d{5}-)/, '+0$1')
        expect(isFirstDate(date), `${unit} ${date}`).toBe(true)
        expect(format.format(start - 1)).not.toBe(format.format(start))
      }
    })
    fc.assert(right, { numRuns: 300 })
  })

  it('has hours and minutes that are whole, or cut at a change of the clock', () => {
    const whole = fc.property(fc.constantFrom('hour', 'minute'), zone, time, (unit, zone, time) => {
      const { start, end } = calendar(unit, zone).at(time)
      const size = unit === 'hour' ? HOUR : 60_000
      if (start === 0) return
      expect(end - start).toBeLessThanOrEqual(size)
      if (end - start === size) {
        const shown = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'medium' }).format(start)
        expect(shown).toMatch(unit === 'hour' ? /:00:00$/ : /:00$/)
      }
    })
    fc.assert(whole, { numRuns: 500 })
  })
})
