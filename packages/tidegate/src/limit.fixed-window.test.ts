import { describe, expect, it, test } from 'vitest'
import { checkTimeZone } from './calendar/calendar.ts'
import { compileRule, type RuleOptions } from './rule.ts'

const DAY = 86_400_000
const duration = "whole milliseconds or a duration such as '250ms', '1s', '1m', '1h', '7d', from 1 ms to 366 days"
const zone = "an IANA time zone such as 'Europe/Berlin' or 'UTC'"
const units = 'minute, hour, day, week, month, year'

function compile(fields: Partial<RuleOptions>) {
  return compileRule({ name: 'fixed', limit: 5, algorithm: 'fixed-window', ...fields }, 'rules[0]')
}

describe('the windows of a fixed window', () => {
  it('begin at multiples of their length, unless said otherwise', () => {
    const { algorithm, windowMs, spanMs, windows } = compile({ window: '1m' })
    expect({ algorithm, windowMs, spanMs }).toEqual({ algorithm: 'fixed-window', windowMs: 60_000, spanMs: 60_000 })
    expect(windows?.at(119_999)).toEqual({ start: 60_000, end: 120_000 })
    expect(windows?.at(120_000)).toEqual({ start: 120_000, end: 180_000 })
    expect(windows?.edges).toBeUndefined()
    expect(compile({ window: '1m', align: 'epoch' }).id).toBe(compile({ window: '1m' }).id)
  })

  it('are not known beforehand where the first hit begins them', () => {
    expect(compile({ window: '1m', align: 'first-hit' })).toMatchObject({ windowMs: 60_000, spanMs: 60_000 })
    expect(compile({ window: '1m', align: 'first-hit' }).windows).toBeUndefined()
  })

  it('have no one length where the calendar begins them', () => {
    const { windowMs, windows } = compile({ align: 'day', timeZone: 'Europe/Berlin' })
    expect(windowMs).toBe(0)
    const start = Date.parse('2024-03-30T23:00Z')
    expect(windows?.at(start)).toEqual({ start, end: start + 23 * 3_600_000 })
    expect(compile({ align: 'month' }).windows?.at(Date.parse('2024-02-15T00:00Z'))).toEqual({
      start: Date.parse('2024-02-01T00:00Z'),
      end: Date.parse('2024-03-01T00:00Z'),
    })
  })
})

test('no window of a calendar is longer than the span of its rule', { timeout: 60_000 }, () => {
  const times = [0, 26 * 365.25 * DAY, Date.parse('2011-12-29T12:00Z'), Date.parse('2024-10-27T00:30Z')]
  for (const timeZone of Intl.supportedValuesOf('timeZone')) {
    for (const align of ['day', 'week', 'month', 'year'] as const) {
      const { windows, spanMs } = compile({ align, timeZone })
      for (const time of times) {
        const { start, end } = windows?.at(time) ?? { start: 0, end: Number.POSITIVE_INFINITY }
        expect(end - start, `${align} in ${timeZone}`).toBeLessThanOrEqual(spanMs)
      }
    }
  }
  for (const align of ['minute', 'hour'] as const) {
    const { windows, spanMs } = compile({ align, timeZone: 'Australia/Lord_Howe' })
    const { start, end } = windows?.at(Date.parse('2024-04-06T14:30Z')) ?? { start: 0, end: 0 }
    expect(end - start).toBe(spanMs)
  }
})

describe('the fingerprint', () => {
  const id = (fields: Partial<RuleOptions>) => compile(fields).id

  it('tells windows from another, and keeps the counts of a changed limit', () => {
    const different: Partial<RuleOptions>[] = [
      { window: '1h' },
      { window: '2h' },
      { window: '1h', align: 'first-hit' },
      { align: 'hour' },
      { align: 'day' },
      { align: 'day', timeZone: 'Europe/Berlin' },
      { align: 'day', timeZone: 'Europe/Paris' },
    ]
    expect(new Set(different.map(id)).size).toBe(different.length)
    expect(id({ window: '1h', limit: 6 })).toBe(id({ window: 3_600_000 }))
    expect(id({ align: 'day', timeZone: 'UTC' })).toBe(id({ align: 'day' }))
  })

  it('has the zone as it was written, because runtimes differ about what an old name stands for', () => {
    expect(checkTimeZone('asia/calcutta', '')).toBe(checkTimeZone('Asia/Calcutta', ''))
    expect(id({ align: 'day', timeZone: 'asia/calcutta' })).not.toBe(id({ align: 'day', timeZone: 'Asia/Calcutta' }))
  })
})

const wrong: [fields: object, field: string, expected: string, received: string][] = [
  [{}, 'window', duration, 'undefined'],
  [{ window: 0 }, 'window', duration, '0'],
  [{ window: '367d', align: 'first-hit' }, 'window', duration, '"367d"'],
  [{ window: '1m', align: 'clock' }, 'align', `one of epoch, first-hit, ${units}`, '"clock"'],
  [{ window: '1m', align: null }, 'align', `one of epoch, first-hit, ${units}`, 'null'],
  [{ window: '1d', align: 'day' }, 'window', "none with align: 'day', which is the window", '"1d"'],
  [
    { window: '1d', timeZone: 'Europe/Berlin' },
    'timeZone',
    `none with align: 'epoch': a zone belongs to a unit of the calendar (${units})`,
    '"Europe/Berlin"',
  ],
  [
    { window: '1d', align: 'first-hit', timeZone: 'UTC' },
    'timeZone',
    `none with align: 'first-hit': a zone belongs to a unit of the calendar (${units})`,
    '"UTC"',
  ],
  [{ align: 'day', timeZone: 'Europe/Atlantis' }, 'timeZone', zone, '"Europe/Atlantis"'],
  [{ align: 'day', timeZone: '+01:00' }, 'timeZone', zone, '"+01:00"'],
  [{ align: 'day', timeZone: null }, 'timeZone', zone, 'null'],
  [
    { align: 'day', resolution: 5 },
    'resolution',
    'none with the algorithm fixed-window, which has window, align, timeZone',
    '5',
  ],
  [
    { algorithm: 'sliding-window', window: '1d', align: 'day' },
    'align',
    'none with the algorithm sliding-window, which has window, resolution',
    '"day"',
  ],
  [
    { algorithm: undefined, window: '1d', timeZone: 'UTC' },
    'timeZone',
    'none with the algorithm sliding-window, which has window, resolution',
    '"UTC"',
  ],
]

test.each(wrong)('%j: the error names %s', (fields, field, expected, received) => {
  expect(() => compile(fields)).toThrow(
    expect.objectContaining({
      code: 'ERR_INVALID_OPTION',
      field: `rules[0].${field}`,
      expected,
      message: `rules[0].${field}: expected ${expected}, received ${received}`,
    }),
  )
})
