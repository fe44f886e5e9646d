import * as fc from 'fast-check'
import type { RuleOptions } from 'tidegate'

/** How the clock moves before a step. `window` moves by one of the rules' windows and a little. */
export type Move =
  | { readonly kind: 'by'; readonly ms: number }
  | { readonly kind: 'window'; readonly rule: number; readonly offset: number; readonly back: boolean }

export interface SequenceStep {
  readonly move: Move
  readonly op: 'limit' | 'peek' | 'reset'
  readonly cost: number
  readonly descriptor: { readonly user?: string; readonly route: string }
}

/** Rules, and requests against them in order. */
export interface Sequence {
  readonly rules: RuleOptions[]
  readonly start: number
  readonly steps: readonly SequenceStep[]
}

const KEYS = [[], ['user'], ['route'], ['user', 'route']]

const limitAndWindow = fc.oneof(
  { weight: 5, arbitrary: fc.record({ limit: fc.integer({ min: 0, max: 12 }), window: fc.integer({ min: 1, max: 60 }) }) },
  // Windows that hold many entries: the log form in Redis, its trimming and its searches.
  { weight: 4, arbitrary: fc.record({ limit: fc.integer({ min: 20, max: 300 }), window: fc.integer({ min: 30, max: 900 }) }) },
  { weight: 1, arbitrary: fc.record({ limit: fc.integer({ min: 0, max: 2 ** 32 - 1 }), window: fc.integer({ min: 1, max: 4000 }) }) },
  { weight: 1, arbitrary: fc.record({ limit: fc.integer({ min: 1, max: 9 }), window: fc.constant(366 * 86_400_000) }) },
)

const rules = fc
  .array(
    fc.record({
      quota: limitAndWindow,
      key: fc.constantFrom(...KEYS),
      match: fc.constantFrom(undefined, undefined, { route: '/a' }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((all) =>
    all.map(({ quota, key, match }, i): RuleOptions => ({ name: `r${i}`, key, ...quota, ...(match && { match }) })),
  )

const move = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 3 }).map((ms): Move => ({ kind: 'by', ms })) },
  { weight: 2, arbitrary: fc.integer({ min: 4, max: 80 }).map((ms): Move => ({ kind: 'by', ms })) },
  { weight: 1, arbitrary: fc.integer({ min: -30, max: -1 }).map((ms): Move => ({ kind: 'by', ms })) },
  {
    weight: 1,
    arbitrary: fc
      .record({ rule: fc.nat(4), offset: fc.integer({ min: -2, max: 2 }), back: fc.boolean() })
      .map((to): Move => ({ kind: 'window', ...to })),
  },
)

const step = fc.record({
  move,
  op: fc.oneof(
    { weight: 30, arbitrary: fc.constant('limit' as const) },
    { weight: 4, arbitrary: fc.constant('peek' as const) },
    { weight: 1, arbitrary: fc.constant('reset' as const) },
  ),
  cost: fc.oneof(
    { weight: 8, arbitrary: fc.constant(1) },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 7 }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 ** 32 - 1 }) },
  ),
  descriptor: fc.oneof(
    { weight: 9, arbitrary: fc.record({ user: fc.constantFrom('u1', 'u2'), route: fc.constantFrom('/a', '/b') }) },
    { weight: 1, arbitrary: fc.record({ route: fc.constantFrom('/a', '/b') }) },
  ),
})

/** Random rules and requests. `longest` bounds the steps of one sequence. */
export function sequences(longest: number): fc.Arbitrary<Sequence> {
  return fc.record({
    rules,
    start: fc.constantFrom(0, 100_000, 1_700_000_000_000),
    steps: fc.array(step, { minLength: 1, maxLength: longest, size: 'max' }),
  })
}

/** The clock after a move; never before the epoch. */
export function moved(now: number, by: Move, ruleSet: readonly RuleOptions[]): number {
  if (by.kind === 'by') return Math.max(0, now + by.ms)
  const window = ruleSet[by.rule % ruleSet.length]?.window as number
  return Math.max(0, now + (by.back ? -window : window) + by.offset)
}
