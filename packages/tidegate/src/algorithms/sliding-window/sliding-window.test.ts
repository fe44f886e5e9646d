import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileRule } from '../../rule.ts'
import { UNTOUCHED } from '../algorithm.ts'
import { SlidingWindow } from './sliding-window.ts'

const quotaOf = (limit: number, window: number) => compileRule({ name: 'r', limit, window }, 'rule')
const quota = quotaOf(5, 100)

/** States of one algorithm by name, kept the way a store keeps them. */
function open(of = quota) {
  const algorithm = new SlidingWindow()
  const states = new Map<string, number>()
  const evaluate = (name: string, cost: number, clock: number) =>
    algorithm.evaluate(states.get(name) ?? UNTOUCHED, of, cost, clock)
  const admit = (name: string, cost: number, clock: number) => {
    const { allowed, at } = evaluate(name, cost, clock)
    if (!allowed) return false
    if (!states.has(name)) states.set(name, algorithm.open())
    algorithm.commit(states.get(name) as number, of, cost, at)
    return true
  }
  const forget = (name: string) => {
    algorithm.release(states.get(name) as number)
    states.delete(name)
  }
  return { algorithm, states, evaluate, admit, forget }
}

const steps = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    step: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 20 }) }, fc.integer({ min: -150, max: 150 })),
    cost: fc.integer({ min: 0, max: 7 }),
    forget: fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.constant(true)),
  }),
  { maxLength: 300, size: 'max' },
)

test('evaluate changes nothing: asked twice it says the same, of every key', () => {
  const pure = fc.property(steps, (all) => {
    const { states, evaluate, admit } = open()
    let clock = 1000
    for (const { name, step, cost } of all) {
      clock = Math.max(0, clock + step)
      const before = [...states.keys()].map((other) => evaluate(other, 1, clock))
      const verdict = evaluate(name, cost, clock)
      expect([...states.keys()].map((other) => evaluate(other, 1, clock))).toEqual(before)
      expect(evaluate(name, cost, clock)).toEqual(verdict)
      admit(name, cost, clock)
    }
  })
  void fc.assert(pure, { numRuns: 50 })
})

// The kind of fault: rows and logs that are given out again while somebody still holds them.
test('keys that come and go do not disturb each other: each decides as if it were alone', () => {
  const apart = fc.property(steps, (all) => {
    const shared = open(quotaOf(40, 100))
    const alone = new Map<string, ReturnType<typeof open>>()
    let clock = 1000
    for (const { name, step, cost, forget } of all) {
      clock = Math.max(0, clock + step)
      const own = alone.get(name) ?? open(quotaOf(40, 100))
      alone.set(name, own)
      expect(shared.evaluate(name, cost, clock)).toEqual(own.evaluate(name, cost, clock))
      expect(shared.admit(name, cost, clock)).toBe(own.admit(name, cost, clock))
      if (forget && shared.states.has(name)) {
        shared.forget(name)
        alone.delete(name)
      }
    }
  })
  void fc.assert(apart, { numRuns: 200 })
})

test('a log of any length: thousands of entries, dropped one by one and all at once', () => {
  const { admit, evaluate, states } = open(quotaOf(50_000, 40_000))
  for (let clock = 0; clock < 120_000; clock++) expect(admit('long', 1, clock)).toBe(true)
  expect(evaluate('long', 0, 119_999).used).toBe(40_000)
  expect(evaluate('long', 20_000, 119_999)).toMatchObject({ allowed: false, retryAfterMs: 10_000 })
  expect(evaluate('long', 0, 149_999)).toMatchObject({ used: 10_000, resetAfterMs: 10_000 })
  expect(admit('long', 50_000, 159_999)).toBe(true)
  expect(states.size).toBe(1)
})

test('running totals go round 2^32 without a trace', () => {
  const { admit, evaluate } = open(quotaOf(2 ** 32 - 1, 10))
  for (let clock = 0; clock < 1000; clock++) {
    expect(evaluate('k', 0, clock).used).toBe(Math.min(clock, 9) * 400_000_000)
    expect(admit('k', 400_000_000, clock)).toBe(true)
  }
})

test('is idle exactly when a window has passed since the newest admission', () => {
  const { algorithm, states, admit } = open()
  admit('k', 1, 1000)
  const state = states.get('k') as number
  expect(algorithm.idle(state, quota, 1099)).toBe(false)
  expect(algorithm.idle(state, quota, 1100)).toBe(true)
})

test('a key that is used once costs a row and no log', () => {
  const { admit, states } = open()
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 65_536; i++) admit(`k${i}`, 1, 1000)
  expect(states.size).toBe(65_536)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(65_536 * 64 * 1.3)
})

test('a log that was long once gives its room back when it thins out', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { admit, evaluate } = open(quotaOf(100_000, 100_000))
  collect()
  const before = process.memoryUsage().arrayBuffers
  for (let key = 0; key < 10; key++) {
    for (let clock = 0; clock < 100_000; clock++) admit(`long-${key}`, 1, clock)
    for (let clock = 150_000; clock < 400_000; clock += 50_000) admit(`long-${key}`, 1, clock)
    expect(evaluate(`long-${key}`, 0, 399_999).used).toBe(2)
  }
  collect()
  // 1.6 MB each at their longest.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4_000_000)
})
