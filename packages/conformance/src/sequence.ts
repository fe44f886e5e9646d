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

const few = fc.record({ limit: fc.integer({ min: 0, max: 12 }), window: fc.integer({ min: 1, max: 60 }) })
/** Holds many entries: the log form in Redis, its trimming and its searches. */
const longLog = fc.record({ limit: fc.integer({ min: 20, max: 300 }), window: fc.integer({ min: 30, max: 500 }) })
const huge = fc.record({ limit: fc.integer({ min: 0, max: 2 ** 32 - 1 }), window: fc.integer({ min: 1, max: 4000 }) })
const longest = fc.record({ limit: fc.integer({ min: 1, max: 9 }), window: fc.constant(366 * 86_400_000) })
const anyQuota = fc.oneof(
  { weight: 5, arbitrary: few },
  { weight: 4, arbitrary: longLog },
  { weight: 1, arbitrary: huge },
  { weight: 1, arbitrary: longest },
)

function rulesOf(quota: typeof longLog, maxLength: number): fc.Arbitrary<RuleOptions[]> {
  const match = fc.constantFrom(undefined, undefined, { route: '/a' })
  const rule = fc.record({ quota, key: fc.constantFrom(...KEYS), match })
  return fc
    .array(rule, { minLength: 1, maxLength })
    .map((all) =>
      all.map(({ quota, key, match }, i): RuleOptions => ({ name: `r${i}`, key, ...quota, ...(match && { match }) })),
    )
}

/** A short move forward, most of the time; else a longer one, one back, or one to the edge of a window. */
const wildMove = fc.oneof(
  { weight: 12, arbitrary: by(0, 3) },
  { weight: 2, arbitrary: by(4, 80) },
  { weight: 1, arbitrary: by(-30, -1) },
  { weight: 1, arbitrary: toEdge() },
)

/** Hardly ever more than a step forward, so that logs grow long before anything big happens to them. */
const steadyMove = fc.oneof(
  { weight: 400, arbitrary: by(0, 3) },
  { weight: 3, arbitrary: by(4, 200) },
  { weight: 2, arbitrary: by(-30, -1) },
  { weight: 1, arbitrary: toEdge() },
)

function by(min: number, max: number): fc.Arbitrary<Move> {
  return fc.integer({ min, max }).map((ms): Move => ({ kind: 'by', ms }))
}

function toEdge(): fc.Arbitrary<Move> {
  const parts = { rule: fc.nat(4), offset: fc.integer({ min: -2, max: 2 }), back: fc.boolean() }
  return fc.record(parts).map((to): Move => ({ kind: 'window', ...to }))
}

const operation = fc.oneof(
  { weight: 60, arbitrary: fc.constant('limit' as const) },
  { weight: 8, arbitrary: fc.constant('peek' as const) },
  { weight: 1, arbitrary: fc.constant('reset' as const) },
)

const cost = fc.oneof(
  { weight: 8, arbitrary: fc.constant(1) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 7 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 ** 32 - 1 }) },
)

const descriptor = fc.oneof(
  { weight: 9, arbitrary: fc.record({ user: fc.constantFrom('u1', 'u2'), route: fc.constantFrom('/a', '/b') }) },
  { weight: 1, arbitrary: fc.record({ route: fc.constantFrom('/a', '/b') }) },
)

const wildStep = fc.record({ move: wildMove, op: operation, cost, descriptor })

const steadyStep = fc.record({
  move: steadyMove,
  op: fc.oneof(
    { weight: 20, arbitrary: fc.constant('limit' as const) },
    { weight: 1, arbitrary: fc.constant('peek' as const) },
  ),
  cost: fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 0, max: 40 }) }),
  descriptor: fc.constant({ user: 'u1', route: '/a' }),
})

const start = fc.constantFrom(0, 100_000, 1_700_000_000_000)

/** Random rules and requests. `longest` bounds the steps of one sequence. */
export function sequences(longest: number): fc.Arbitrary<Sequence> {
  const size = { minLength: 1, maxLength: longest, size: 'max' } as const
  return fc.oneof(
    fc.record({ rules: rulesOf(anyQuota, 5), start, steps: fc.array(wildStep, size) }),
    fc.record({ rules: rulesOf(longLog, 2), start, steps: fc.array(steadyStep, size) }),
  )
}

/** The clock after a move; never before the epoch. */
export function moved(now: number, by: Move, ruleSet: readonly RuleOptions[]): number {
  if (by.kind === 'by') return Math.max(0, now + by.ms)
  const window = ruleSet[by.rule % ruleSet.length]?.window as number
  return Math.max(0, now + (by.back ? -window : window) + by.offset)
}
