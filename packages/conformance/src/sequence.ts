import * as fc from 'fast-check'
import type { AlgorithmSpelling, LimitOptions } from 'tidegate'
import { calendarTime } from './calendar-times.ts'
import type { LimitedRule } from './oracle/counter.ts'
import { periodOf, type RandomLimit, randomLimits, steadyLimits } from './quotas.ts'

/** How the clock moves before a step. `window` moves by one of the rules' windows and a little. */
export type Move =
  | { readonly kind: 'by'; readonly ms: number }
  | { readonly kind: 'window'; readonly rule: number; readonly offset: number; readonly back: boolean }

export type OperationName =
  | 'limit'
  | 'peek'
  | 'reset'
  | 'refund'
  | 'reserve'
  | 'settle'
  | 'block'
  | 'unblock'
  | 'renew'
  | 'release'
  | 'entries'

export interface SequenceStep {
  readonly move: Move
  readonly op: OperationName
  readonly cost: number
  readonly descriptor: { readonly user?: string; readonly route: string; readonly weight?: string }
  /** The id of the request. */
  readonly id: string
  /** Which of the rules that match, where one has to be named. */
  readonly rule: number
  /** A refund: of the admission so many before the latest, or of the oldest ones. */
  readonly of: number | undefined
  /** A block: for so many ms, or for ever. */
  readonly duration: number | 'forever'
  /** A reservation: how long it can be settled, ms. */
  readonly expiresIn: number
}

/** Rules, and requests against them in order. */
export interface Sequence {
  readonly rules: LimitedRule[]
  readonly start: number
  readonly steps: readonly SequenceStep[]
}

const KEYS = [[], ['user'], ['route'], ['user', 'route']]

const penalty = fc.record({
  blocks: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 3 }),
  forgetAfter: fc.integer({ min: 1, max: 200 }),
})

function rulesOf(limits: fc.Arbitrary<RandomLimit>, maxLength: number): fc.Arbitrary<LimitedRule[]> {
  const rule = fc.record({
    limit: limits,
    key: fc.constantFrom(...KEYS),
    match: fc.constantFrom(undefined, undefined, { route: '/a' }),
    penalty: fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: penalty }),
    shadow: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    cost: fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constant('weight') }),
  })
  return fc.array(rule, { minLength: 1, maxLength }).map((all) =>
    all.map(({ limit, key, match, penalty, shadow, cost }, i): LimitedRule => {
      return {
        name: `r${i}`,
        key,
        ...limit,
        ...(match && { match }),
        ...(penalty && { penalty }),
        ...(shadow && { shadow }),
        ...(cost && { cost }),
      }
    }),
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
  { weight: 6, arbitrary: fc.constant('refund' as const) },
  // Some reservations are never settled, as where their holder was killed, and some twice.
  { weight: 12, arbitrary: fc.constantFrom('reserve' as const, 'settle' as const) },
  { weight: 2, arbitrary: fc.constantFrom('renew' as const, 'release' as const, 'entries' as const) },
  { weight: 1, arbitrary: fc.constantFrom('reset' as const, 'block' as const, 'unblock' as const) },
)

const particulars = {
  // Some come again, so that leases are renewed and released; others do not, so that there are many.
  id: fc.oneof(
    fc.constantFrom('i0', 'i1', 'i2', 'i3', 'i4', 'i5'),
    fc.nat(999).map((n) => `n${n}`),
  ),
  rule: fc.nat(4),
  of: fc.oneof(fc.constant(undefined), fc.nat(5)),
  duration: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 80 }) }, fc.constant('forever' as const)),
  expiresIn: fc.oneof(fc.integer({ min: 1, max: 80 }), fc.constant(600_000), fc.constant(366 * 86_400_000)),
}

const cost = fc.oneof(
  { weight: 8, arbitrary: fc.constant(1) },
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 7 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 ** 32 - 1 }) },
)

const route = fc.constantFrom('/a', '/b')
const user = fc.constantFrom('u1', 'u2')
/** The cost for rules that take it from there. */
const weight = fc.constantFrom('0', '1', '2', '7')

const descriptor = fc.oneof(
  { weight: 7, arbitrary: fc.record({ user, route }) },
  { weight: 2, arbitrary: fc.record({ user, route, weight }) },
  { weight: 1, arbitrary: fc.record({ route }) },
)

const wildStep = fc.record({ move: wildMove, op: operation, cost, descriptor, ...particulars })

const steadyStep = fc.record({
  move: steadyMove,
  op: fc.oneof(
    { weight: 40, arbitrary: fc.constant('limit' as const) },
    { weight: 1, arbitrary: fc.constantFrom('peek' as const, 'refund' as const) },
    { weight: 3, arbitrary: fc.constantFrom('reserve' as const, 'settle' as const) },
  ),
  cost: fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 0, max: 40 }) }),
  descriptor: fc.constant({ user: 'u1', route: '/a' }),
  ...particulars,
})

const start = fc.constantFrom(0, 100_000, 1_700_000_000_000)

/** Reservations above all: settled early, late, twice or never, above and below what was reserved. */
const reservingStep = fc.record({
  move: wildMove,
  op: fc.oneof(
    { weight: 40, arbitrary: fc.constant('reserve' as const) },
    { weight: 40, arbitrary: fc.constant('settle' as const) },
    { weight: 20, arbitrary: fc.constantFrom('limit' as const, 'peek' as const, 'refund' as const) },
    { weight: 4, arbitrary: fc.constantFrom('renew' as const, 'release' as const, 'entries' as const) },
    { weight: 3, arbitrary: fc.constantFrom('reset' as const, 'block' as const, 'unblock' as const) },
  ),
  cost: fc.oneof(
    { weight: 30, arbitrary: fc.integer({ min: 0, max: 9 }) },
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 300 }) },
    { weight: 1, arbitrary: fc.integer({ min: 2 ** 31, max: 2 ** 32 - 1 }) },
  ),
  descriptor: fc.oneof(
    { weight: 5, arbitrary: fc.record({ user, route }) },
    { weight: 1, arbitrary: fc.record({ user, route, weight }) },
  ),
  ...particulars,
  id: fc.constantFrom('i0', 'i1', 'i2', 'i3', 'i4', 'i5', 'i6', 'i7'),
})

/** Random rules of one algorithm, and reservations of them. */
export function reservingSequences(longest: number, algorithm: AlgorithmSpelling): fc.Arbitrary<Sequence> {
  const rules = rulesOf(fc.oneof(randomLimits[algorithm], steadyLimits[algorithm]), 3)
  const steps = fc.array(reservingStep, { minLength: 1, maxLength: longest, size: 'max' })
  return fc.record({ rules, start, calendarTime, steps }).map(fromItsCalendar)
}

/**
 * Random rules and requests.
 * @param longest bounds the steps of one sequence
 * @param algorithm of every rule; undefined for a random mix
 */
export function sequences(longest: number, algorithm?: AlgorithmSpelling): fc.Arbitrary<Sequence> {
  const size = { minLength: 1, maxLength: longest, size: 'max' } as const
  const among = (limits: Record<AlgorithmSpelling, fc.Arbitrary<RandomLimit>>) =>
    algorithm === undefined ? fc.oneof(...Object.values(limits)) : limits[algorithm]
  return fc
    .oneof(
      fc.record({ rules: rulesOf(among(randomLimits), 5), start, calendarTime, steps: fc.array(wildStep, size) }),
      fc.record({ rules: rulesOf(among(steadyLimits), 2), start, calendarTime, steps: fc.array(steadyStep, size) }),
    )
    .map(fromItsCalendar)
}

/** Where a rule counts by a time zone the sequence starts at a time that matters there. */
function fromItsCalendar({ calendarTime, ...sequence }: Sequence & { calendarTime: number }): Sequence {
  const isOfCalendar = sequence.rules.some(({ timeZone }) => timeZone !== undefined)
  return isOfCalendar ? { ...sequence, start: calendarTime } : sequence
}

/** The clock after a move; never before the epoch. */
export function moved(now: number, by: Move, ruleSet: readonly LimitOptions[]): number {
  if (by.kind === 'by') return Math.max(0, now + by.ms)
  const period = periodOf(ruleSet[by.rule % ruleSet.length] as LimitOptions)
  return Math.max(0, now + (by.back ? -period : period) + by.offset)
}
