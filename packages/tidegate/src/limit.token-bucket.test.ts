import { describe, expect, test } from 'vitest'
import { compileRule, type RuleOptions } from './rule.ts'
import { versionOf } from './rule-version.ts'

const compile = (options: object) => compileRule({ name: 'r', ...options }, 'rule')
const bucket = (options: object) => compile({ algorithm: 'token-bucket', ...options })
const gcra = (options: object) => compile({ algorithm: 'gcra', ...options })

describe('a token bucket', () => {
  test('holds `limit` and refills `limit` in each window, unless it says otherwise', () => {
    expect(bucket({ limit: 10, window: '1s' })).toMatchObject({
      algorithm: 'token-bucket',
      limit: 10,
      windowMs: 1000,
      refillUnits: 1,
      tokenUnits: 100,
      spanMs: 1000,
    })
    expect(bucket({ limit: 100, window: '1m', capacity: 20 })).toMatchObject({
      limit: 20,
      refillUnits: 1,
      tokenUnits: 600,
      spanMs: 12_000,
    })
    expect(bucket({ limit: 20, window: '1m', refill: 100 })).toMatchObject(
      bucketFigures(bucket({ limit: 100, window: '1m', capacity: 20 })),
    )
  })

  test('the window alone tells its states from others, so that a changed refill or capacity applies to what is there', () => {
    const { id } = bucket({ limit: 10, window: '1m' })
    expect(bucket({ limit: 99, window: '1m', capacity: 7, refill: 3 }).id).toBe(id)
    expect(gcra({ limit: 10, period: 60_000, burst: 2 }).id).toBe(id)
    expect(bucket({ limit: 10, window: '2m' }).id).not.toBe(id)
    expect(compile({ limit: 10, window: '1m' }).id).not.toBe(id)
  })

  test('a changed refill is another version', () => {
    const of = (refill: number) => versionOf([bucket({ limit: 10, window: '1m', refill })])
    expect(of(10)).not.toBe(of(11))
  })

  test('a limit of 0 refuses everything, and needs no refill', () => {
    expect(bucket({ limit: 0, window: '1s' })).toMatchObject({ limit: 0, spanMs: 1 })
    expect(gcra({ limit: 0, period: '1s' })).toMatchObject({ limit: 0, spanMs: 1 })
    expect(bucket({ limit: 5, window: '1s', capacity: 0 })).toMatchObject({ limit: 0, spanMs: 1 })
  })

  test('the largest and the slowest', () => {
    expect(bucket({ limit: 2 ** 32 - 1, window: 1 })).toMatchObject({
      refillUnits: 2 ** 32 - 1,
      tokenUnits: 1,
      spanMs: 1,
    })
    expect(bucket({ limit: 1, window: '366d' })).toMatchObject({ refillUnits: 1, spanMs: 366 * 86_400_000 })
    expect(bucket({ limit: 1, window: '366d', capacity: 100 }).spanMs).toBe(100 * 366 * 86_400_000)
  })
})

test('gcra in the words of redis_rate and of redis-cell is the token bucket', () => {
  // redis_rate: Limit{Rate: 10, Burst: 30, Period: time.Second}
  expect(bucketFigures(gcra({ limit: 10, period: '1s', burst: 30 }))).toEqual(
    bucketFigures(bucket({ limit: 10, window: '1s', capacity: 30 })),
  )
  // redis-cell: CL.THROTTLE key 15 30 60
  expect(bucketFigures(gcra({ limit: 30, period: '60s', burst: 15 + 1 }))).toEqual(
    bucketFigures(bucket({ limit: 30, window: '60s', capacity: 16 })),
  )
  expect(bucketFigures(gcra({ limit: 10, period: '1s' }))).toEqual(bucketFigures(bucket({ limit: 10, window: '1s' })))
})

const count = (from: number) => `a whole number from ${from} to 4,294,967,295`
const wrong: [what: string, options: object, field: string, expected: string, received: string][] = [
  ['a capacity below 0', { limit: 1, window: 1, capacity: -1 }, 'capacity', count(0), '-1'],
  ['a part of a token', { limit: 1, window: 1, capacity: 1.5 }, 'capacity', count(0), '1.5'],
  ['a capacity too large', { limit: 1, window: 1, capacity: 2 ** 32 }, 'capacity', count(0), '4294967296'],
  ['a capacity as text', { limit: 1, window: 1, capacity: '5' }, 'capacity', count(0), '"5"'],
  ['no refill', { limit: 5, window: 1, refill: 0 }, 'refill', count(1), '0'],
  ['no refill because of the limit', { limit: 0, window: 1, capacity: 3 }, 'refill', count(1), '0'],
  ['a refill too large', { limit: 1, window: 1, refill: 2 ** 32 }, 'refill', count(1), '4294967296'],
  ['a null refill', { limit: 1, window: 1, refill: null }, 'refill', count(1), 'null'],
  [
    'a period',
    { limit: 1, period: 1 },
    'period',
    'none with the algorithm token-bucket, which has window, capacity, refill',
    '1',
  ],
]
test.each(wrong)('a token bucket with %s', (_, options, field, expected, received) => {
  expect(() => bucket(options as RuleOptions)).toThrow(
    expect.objectContaining({
      code: 'ERR_INVALID_OPTION',
      message: `rule.${field}: expected ${expected}, received ${received}`,
    }),
  )
})

test.each([
  ['burst', { limit: 1, period: 1, burst: -1 }, count(0), '-1'],
  ['limit', { limit: 0, period: 1, burst: 3 }, count(1), '0'],
  ['window', { limit: 1, window: 1 }, 'none with the algorithm gcra, which has period, burst', '1'],
])('a wrong %s of gcra', (field, options, expected, received) => {
  expect(() => gcra(options)).toThrow(`rule.${field}: expected ${expected}, received ${received}`)
})

test('a window is needed', () => {
  expect(() => bucket({ limit: 1 })).toThrow(/^rule\.window: expected whole milliseconds/)
  expect(() => gcra({ limit: 1 })).toThrow(/^rule\.period: expected whole milliseconds/)
})

test('a rate that could not be kept exactly is refused, and says what is', () => {
  expect(() => bucket({ limit: 2 ** 32 - 1, window: '366d' })).toThrow(
    'rule.limit: expected tokens per ms whose fraction in lowest terms has a numerator and a denominator with a product' +
      ' below 2^53; 4,294,967,295 in 31,622,400,000 ms are 286,331,153/2,108,160,000; a rounder number of tokens is exact',
  )
  expect(bucket({ limit: 4_294_000_000, window: '366d' })).toMatchObject({ refillUnits: 10_735, tokenUnits: 79_056 })
})

test('a bucket that would not be full again within a century is refused', () => {
  expect(() => bucket({ limit: 1, window: '366d', capacity: 101 })).toThrow(
    'rule.limit: expected a bucket that is full again within 3,162,240,000,000 ms (100 years);' +
      ' 101 tokens at 1 in 31,622,400,000 ms need longer',
  )
})

test.each(['capacity', 'refill', 'period', 'burst'])('a sliding window has no %s', (field) => {
  expect(() => compile({ limit: 1, window: 1, [field]: 1 })).toThrow(
    `rule.${field}: expected none with the algorithm sliding-window, which has window, resolution, received 1`,
  )
})

function bucketFigures({
  algorithm,
  limit,
  windowMs,
  spanMs,
  refillUnits,
  tokenUnits,
  id,
}: ReturnType<typeof compile>) {
  return { algorithm, limit, windowMs, spanMs, refillUnits, tokenUnits, id }
}
