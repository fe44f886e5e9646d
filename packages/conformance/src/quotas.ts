import * as fc from 'fast-check'
import type { AlgorithmSpelling, Alignment, LimitOptions } from 'tidegate'
import { CALENDAR_UNITS, type CalendarUnit } from 'tidegate/store'
import { CALENDAR_ZONES } from './calendar-times.ts'

/** What a random rule says of its limit. Durations are numbers, so that oracles can reckon with them. */
export type RandomLimit = LimitOptions

const limitAndWindow = (limit: [number, number], window: [number, number]) => ({
  limit: fc.integer({ min: limit[0], max: limit[1] }),
  window: fc.integer({ min: window[0], max: window[1] }),
})

const few = fc.record(limitAndWindow([0, 12], [1, 60]))
/** Holds many entries: the log form in Redis, its trimming and its searches. */
const longLog = fc.record(limitAndWindow([20, 300], [30, 500]))
const huge = fc.record(limitAndWindow([0, 2 ** 32 - 1], [1, 4000]))
const longest = fc.record({ limit: fc.integer({ min: 1, max: 9 }), window: fc.constant(366 * 86_400_000) })
const coarse = fc
  .record({ ...limitAndWindow([0, 40], [2, 200]), share: fc.integer({ min: 1, max: 20 }) })
  .map(({ share, ...rest }) => ({ ...rest, resolution: Math.max(1, Math.ceil(rest.window / share)) }))

/** A calendar's windows are long, so that its limits are small and large ones, or the count never ends. */
const calendar = fc.record({
  algorithm: fc.constant('fixed-window' as const),
  limit: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 300 })),
  align: fc.constantFrom(...CALENDAR_UNITS),
  timeZone: fc.constantFrom(undefined, ...CALENDAR_ZONES),
})
const fixed = (limits: fc.Arbitrary<{ limit: number; window: number }>) =>
  fc.tuple(limits, fc.constantFrom<(Alignment | undefined)[]>(undefined, 'epoch', 'first-hit')).map(([rest, align]) => {
    return { algorithm: 'fixed-window' as const, ...rest, ...(align && { align }) }
  })
/** A count times a time is far beyond 2^53. */
const hugeAndLong = fc.record(limitAndWindow([2 ** 31, 2 ** 32 - 1], [366 * 86_400_000 - 9, 366 * 86_400_000]))

const smallBucket = fc.record(
  {
    ...limitAndWindow([1, 12], [1, 60]),
    capacity: fc.integer({ min: 0, max: 20 }),
    refill: fc.integer({ min: 1, max: 90 }),
  },
  { requiredKeys: ['limit', 'window'] },
)
/** As large as numbers get; the longest refill is below 100 years. */
const hugeBucket = fc.record({
  ...limitAndWindow([1, 2 ** 32 - 1], [1, 700]),
  capacity: fc.integer({ min: 2 ** 31, max: 2 ** 32 - 1 }),
})
/** Remainders of tokens that last: whole years, and numbers that divide nothing. */
const slowBucket = fc.record({
  limit: fc.integer({ min: 1, max: 9 }),
  window: fc.constantFrom(366 * 86_400_000, 3_600_000, 65_537),
  capacity: fc.integer({ min: 0, max: 20 }),
})
const bucket = fc.oneof(
  { weight: 6, arbitrary: smallBucket },
  { weight: 1, arbitrary: hugeBucket },
  { weight: 1, arbitrary: slowBucket },
  { weight: 1, arbitrary: fc.record(limitAndWindow([0, 100_000], [1, 1000])) },
)
/** The same in other words. */
const cellRate = fc
  .record({ ...limitAndWindow([1, 12], [1, 60]), burst: fc.option(fc.integer({ min: 0, max: 20 })) })
  .map(({ limit, window, burst }) => ({ limit, period: window, ...(burst !== null && { burst }) }))
/** Lists every admission, so that its limit has a bound. */
const manyListed = fc.record(limitAndWindow([1000, 4_000_000], [1, 4000]))

/** Random limits of each algorithm. */
export const randomLimits: Record<AlgorithmSpelling, fc.Arbitrary<RandomLimit>> = {
  'sliding-window': fc.oneof(
    { weight: 5, arbitrary: few },
    { weight: 4, arbitrary: longLog },
    { weight: 4, arbitrary: coarse },
    { weight: 1, arbitrary: huge },
    { weight: 1, arbitrary: longest },
  ),
  'fixed-window': fc.oneof(
    { weight: 6, arbitrary: fixed(few) },
    { weight: 2, arbitrary: fixed(longLog) },
    { weight: 1, arbitrary: fixed(huge) },
    { weight: 1, arbitrary: fixed(longest) },
    { weight: 6, arbitrary: calendar.map(withoutUndefined) },
  ),
  'sliding-counter': named(
    'sliding-counter',
    fc.oneof(
      { weight: 6, arbitrary: few },
      { weight: 3, arbitrary: longLog },
      { weight: 2, arbitrary: huge },
      { weight: 1, arbitrary: hugeAndLong },
      { weight: 1, arbitrary: longest },
    ),
  ),
  'token-bucket': named('token-bucket', bucket),
  gcra: named('gcra', cellRate),
  'sliding-log': named(
    'sliding-log',
    fc.oneof(
      { weight: 5, arbitrary: few },
      { weight: 4, arbitrary: longLog },
      { weight: 1, arbitrary: manyListed },
      { weight: 1, arbitrary: longest },
    ),
  ),
  concurrency: named(
    'concurrency',
    fc.oneof(
      { weight: 8, arbitrary: few },
      { weight: 2, arbitrary: longLog },
      { weight: 1, arbitrary: manyListed },
      { weight: 1, arbitrary: longest },
    ),
  ),
  quota: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record({ limit: fc.integer({ min: 0, max: 60 }), algorithm: fc.constant('quota' as const) }),
    },
    { weight: 1, arbitrary: fc.record({ limit: fc.constant(2 ** 32 - 1), algorithm: fc.constant('quota' as const) }) },
  ),
}

/** Limits under which states grow long before anything big happens to them. */
export const steadyLimits: Record<AlgorithmSpelling, fc.Arbitrary<RandomLimit>> = {
  'sliding-window': fc.oneof(longLog, coarse),
  'fixed-window': fc.oneof(fixed(longLog), calendar.map(withoutUndefined)),
  'sliding-counter': named('sliding-counter', longLog),
  'token-bucket': named('token-bucket', smallBucket),
  gcra: named('gcra', cellRate),
  'sliding-log': named('sliding-log', longLog),
  concurrency: named('concurrency', fc.oneof(few, longLog)),
  quota: randomLimits.quota,
}

/** How far a clock must move for something to end: the window of a rule, or what stands for it. */
export function periodOf({ window, period, align }: LimitOptions): number {
  const either = window ?? period
  if (typeof either === 'number') return either
  return (PERIODS as Partial<Record<Alignment, number>>)[align ?? 'epoch'] ?? 1000
}

const HOUR = 3_600_000
const PERIODS: Record<CalendarUnit, number> = {
  minute: 60_000,
  hour: HOUR,
  day: 24 * HOUR,
  week: 7 * 24 * HOUR,
  month: 30 * 24 * HOUR,
  year: 365 * 24 * HOUR,
}

function withoutUndefined({
  timeZone,
  ...limit
}: {
  timeZone: string | undefined
  limit: number
  align: CalendarUnit
}) {
  return { algorithm: 'fixed-window' as const, ...limit, ...(timeZone !== undefined && { timeZone }) }
}

function named(algorithm: AlgorithmSpelling, limits: fc.Arbitrary<RandomLimit>): fc.Arbitrary<RandomLimit> {
  return limits.map((limit) => ({ ...limit, algorithm }))
}
