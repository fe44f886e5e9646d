import * as fc from 'fast-check'
import type { AlgorithmSpelling, RuleOptions } from 'tidegate'

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

/** Lists every admission, so that its limit has a bound. */
const manyListed = fc.record(limitAndWindow([1000, 4_000_000], [1, 4000]))

const listed = (algorithm: AlgorithmSpelling, limits: fc.Arbitrary<RandomLimit>) =>
  limits.map((limit): RandomLimit => ({ ...limit, algorithm }))

/** Random limits of each algorithm. */
export const randomLimits: Record<AlgorithmSpelling, fc.Arbitrary<RandomLimit>> = {
  'sliding-window': fc.oneof(
    { weight: 5, arbitrary: few },
    { weight: 4, arbitrary: longLog },
    { weight: 4, arbitrary: coarse },
    { weight: 1, arbitrary: huge },
    { weight: 1, arbitrary: longest },
  ),
  'sliding-log': listed(
    'sliding-log',
    fc.oneof(
      { weight: 5, arbitrary: few },
      { weight: 4, arbitrary: longLog },
      { weight: 1, arbitrary: manyListed },
      { weight: 1, arbitrary: longest },
    ),
  ),
  concurrency: listed(
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
  'sliding-log': listed('sliding-log', longLog),
  concurrency: listed('concurrency', fc.oneof(few, longLog)),
  quota: randomLimits.quota,
}

/** How far a clock must move for something to end: the window of a rule, or what stands for it. */
export function periodOf({ window }: RuleOptions): number {
  return typeof window === 'number' ? window : 1000
}
