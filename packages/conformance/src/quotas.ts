import * as fc from 'fast-check'
import type { AlgorithmSpelling, Alignment, RuleOptions } from 'tidegate'
import { CALENDAR_UNITS, type CalendarUnit } from 'tidegate/store'
import { CALENDAR_ZONES } from './calendar-times.ts'

/** What a random rule says of its limit. Durations are numbers, so that oracles can reckon with them. */
export type RandomLimit = Omit<RuleOptions, 'name' | 'key' | 'match' | 'description'>

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
  quota: randomLimits.quota,
}

/** How far a clock must move for something to end: the window of a rule, or what stands for it. */
export function periodOf({ window, align }: RuleOptions): number {
  if (typeof window === 'number') return window
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
