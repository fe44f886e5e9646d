import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createGate } from '../../gate.ts'
import { createLimiter, type LimiterOptions } from '../../limiter.ts'
import { memoryStore } from '../memory/memory-store.ts'
import type { Store } from '../store.ts'
import type { FrontOptions } from './front-options.ts'
import { frontStore } from './front-store.ts'

const START = 1_700_000_000_000

/** A memory store whose answers wait until they are let go, with coarse buckets in front of it. */
function distant(options: FrontOptions = {}) {
  const control = { now: START, isHeld: false, asked: 0, isFailing: false }
  const inner = memoryStore({ clock: () => control.now })
  const held: (() => void)[] = []
  const behind = Object.assign(Object.create(inner) as Store, {
    decideSync: undefined,
    decide: async (...[checks, mode]: Parameters<Store['decide']>) => {
      control.asked++
      if (control.isHeld) await new Promise<void>((resolve) => held.push(resolve))
      if (control.isFailing) throw new Error('gone')
      return inner.decide(checks, mode)
    },
    ...bound(inner),
  })
  const store = frontStore(behind, { clock: () => control.now, deniedCache: false, ...options })
  const release = () => {
    control.isHeld = false
    for (const go of held.splice(0)) go()
  }
  const limiter = (own: Partial<LimiterOptions> = {}) =>
    createLimiter({ name: 'l', limit: 100, window: 60_000, coarse: true, store, ...own } as LimiterOptions)
  return { store, inner, control, release, limiter }
}

function bound(inner: Store): Pick<Store, 'refund' | 'reset' | 'clock' | 'reserve' | 'settle'> {
  return {
    clock: inner.clock,
    refund: (rule, key, cost, of) => inner.refund(rule, key, cost, of),
    reset: (rule, key) => inner.reset(rule, key),
    reserve: (checks, ms) => inner.reserve(checks, ms),
    settle: (rule, key, id, cost) => inner.settle(rule, key, id, cost),
  }
}

describe('a limit that changes', () => {
  test('has a bucket of its own: what was taken by another says nothing of it', async () => {
    const { store, control } = distant()
    const rule = (limit: number) => ({ name: 'r', limit, window: '10s', coarse: true })
    const gate = createGate({ store, rules: [rule(1000)] })
    expect(await gate.limit({}, { cost: 1000 })).toMatchObject({ allowed: true })
    gate.update([rule(10)])
    control.now += 10_000
    for (let i = 0; i < 10; i++) expect(await gate.limit({})).toMatchObject({ allowed: true, source: 'store' })
    expect(await gate.limit({})).toMatchObject({ allowed: false, source: 'coarse' })
  })
})

describe('a flood', () => {
  test('of one key is shed but for as many as the limit', async () => {
    const { control, release, limiter } = distant()
    const one = limiter()
    control.isHeld = true
    const flood = Array.from({ length: 10_000 }, () => one.limit('k'))
    release()
    const decisions = await Promise.all(flood)
    expect(control.asked).toBe(100)
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100)
    const shed = decisions.filter(({ source }) => source === 'coarse')
    expect(shed).toHaveLength(9_900)
    expect(shed[0]).toMatchObject({ allowed: false, reason: 'over_limit', remaining: 0, retryAfterMs: 600, at: START })
    expect((await one.limit('other')).allowed).toBe(true)
  })

  test('on a key that others have filled is asked about a part at a time, and given back', async () => {
    const { control, release, inner, limiter } = distant()
    const one = limiter()
    await inner.decide([{ rule: one.rules[0] as never, key: 'k', cost: 100 }], 'consume')
    for (let i = 0; i < 3; i++) {
      control.isHeld = true
      const flood = Array.from({ length: 1_000 }, () => one.limit('k'))
      release()
      expect((await Promise.all(flood)).some(({ allowed }) => allowed)).toBe(false)
    }
    expect(control.asked).toBe(300)
  })

  test('that fails is given back', async () => {
    const { control, limiter } = distant()
    const one = limiter()
    control.isFailing = true
    await Promise.allSettled(Array.from({ length: 1_000 }, () => one.limit('k')))
    control.isFailing = false
    expect(await one.limit('k', { cost: 100 })).toMatchObject({ allowed: true, source: 'store' })
  })

  test('is asked about as soon as a token is there again', async () => {
    const { control, limiter } = distant()
    const one = limiter()
    await one.limit('k', { cost: 100 })
    const { retryAfterMs, source } = await one.limit('k', { cost: 7 })
    expect([source, retryAfterMs]).toEqual(['coarse', 4_200])
    control.now += 4_199
    expect((await one.peek('k', { cost: 7 })).source).toBe('coarse')
    control.now += 1
    expect((await one.peek('k', { cost: 7 })).source).toBe('store')
  })

  test('is let through as far as something was given back or reset', async () => {
    const { limiter } = distant()
    const one = limiter()
    await one.limit('k', { cost: 100 })
    await one.refund('k', { cost: 5 })
    expect(await one.limit('k', { cost: 5 })).toMatchObject({ allowed: true, source: 'store' })
    expect((await one.limit('k')).source).toBe('coarse')
    await one.reset('k')
    expect(await one.limit('k', { cost: 100 })).toMatchObject({ allowed: true, source: 'store' })
  })

  test('may find one token earlier by what a request can be late', async () => {
    const { control, store } = distant({ leadMs: 600 })
    const real = createLimiter({ name: 'l', limit: 100, window: 60_000, coarse: true, store })
    await real.limit('k', { cost: 100 })
    // By an injected clock nothing is late.
    expect((await real.limit('k')).source).toBe('coarse')
    expect(control.asked).toBe(1)
  })
})

test('what the store can only refuse for good is its own to refuse', async () => {
  const { limiter } = distant()
  expect(await limiter().limit('k', { cost: 101 })).toMatchObject({ source: 'store', reason: 'cost_exceeds_limit' })
})

test('requests that another rule refuses hold their tokens while they are on their way, and no longer', async () => {
  const { control, release, store } = distant()
  const rules = [
    { name: 'all', limit: 3, window: 60_000, coarse: true },
    { name: 'user', key: ['user'], limit: 1, window: 60_000 },
  ]
  const gate = createGate({ rules, store })
  await gate.limit({ user: 'u' })
  control.isHeld = true
  const refused = [gate.limit({ user: 'u' }), gate.limit({ user: 'u' })]
  const wrongly = await gate.limit({ user: 'v' })
  expect(wrongly).toMatchObject({ source: 'coarse', rule: 'all', rules: [{ allowed: false }, { allowed: true }] })
  release()
  for (const one of await Promise.all(refused)) expect(one).toMatchObject({ allowed: false, rule: 'user' })
  expect(await gate.limit({ user: 'v' })).toMatchObject({ allowed: true, source: 'store' })
})

const algorithms = [
  fc.record({ algorithm: fc.constantFrom('sliding-window', 'sliding-log', 'sliding-counter', 'fixed-window') }),
  fc.record({
    algorithm: fc.constant('token-bucket'),
    capacity: fc.integer({ min: 1, max: 12 }),
    refill: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({ algorithm: fc.constant('fixed-window'), align: fc.constant('first-hit') }),
  fc.record({ algorithm: fc.constant('sliding-window'), resolution: fc.integer({ min: 2, max: 20 }) }),
]

test('whatever one rule admits is never shed, in any flow', async () => {
  const rule = fc.record({ limit: fc.integer({ min: 1, max: 9 }), window: fc.integer({ min: 20, max: 200 }) })
  const steps = fc.array(
    fc.record({ after: fc.oneof(fc.constant(0), fc.nat(30), fc.nat(250)), cost: fc.integer({ min: 1, max: 4 }) }),
    { minLength: 1, maxLength: 120 },
  )
  let shed = 0
  const property = fc.asyncProperty(rule, fc.oneof(...algorithms), steps, async (limit, algorithm, flow) => {
    const { control, inner, limiter } = distant()
    const one = limiter({ ...limit, ...(algorithm as object) })
    for (const { after, cost } of flow) {
      control.now += after
      const [expected] = await inner.decide([{ rule: one.rules[0] as never, key: 'k', cost, id: 'x' }], 'peek')
      const decision = await one.limit('k', { cost })
      expect(decision.allowed).toBe(expected?.allowed)
      if (decision.source === 'coarse') shed++
    }
  })
  await fc.assert(property, { numRuns: 300 })
  expect(shed).toBeGreaterThan(0)
})

test.each([
  [{ algorithm: 'concurrency', window: '1s' }],
  [{ algorithm: 'quota' }],
  [{ algorithm: 'fixed-window', align: 'day' }],
  [{ shadow: true, window: '1s' }],
])('a rule that no bucket can foresee is refused: %j', (rule) => {
  const rules = [{ name: 'r', limit: 5, coarse: true, ...rule }]
  expect(() => createGate({ rules: rules as never })).toThrow('rules[0].coarse')
})
