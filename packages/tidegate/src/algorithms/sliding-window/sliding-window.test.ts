import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { slidingWindow } from './sliding-window.ts'

const quota = { limit: 5, windowMs: 100 }

function admit(state: ReturnType<typeof slidingWindow.untouched>, cost: number, clock: number, of = quota): boolean {
  const { allowed, at } = slidingWindow.evaluate(state, of, cost, clock)
  if (allowed) slidingWindow.commit(state, of, cost, at)
  return allowed
}

test('evaluate changes nothing', () => {
  const operations = fc.array(
    fc.record({ step: fc.integer({ min: -150, max: 150 }), cost: fc.integer({ min: 0, max: 7 }) }),
  )
  const pure = fc.property(operations, (all) => {
    const state = slidingWindow.untouched()
    let clock = 1000
    for (const { step, cost } of all) {
      clock = Math.max(0, clock + step)
      const before = structuredClone(state)
      const verdict = slidingWindow.evaluate(state, quota, cost, clock)
      expect(state).toEqual(before)
      expect(slidingWindow.evaluate(state, quota, cost, clock)).toEqual(verdict)
      if (verdict.allowed) slidingWindow.commit(state, quota, cost, verdict.at)
    }
  })
  fc.assert(pure)
})

test('requests of one millisecond share an entry', () => {
  const state = slidingWindow.untouched()
  for (let i = 0; i < 5; i++) expect(admit(state, 1, 7)).toBe(true)
  expect(admit(state, 1, 7)).toBe(false)
  expect(JSON.stringify(state).length).toBeLessThan(200)
})

test('what has ended is let go of: the state stays as large as the window', () => {
  const of = { limit: 1000, windowMs: 50 }
  const state = slidingWindow.untouched()
  for (let clock = 0; clock < 100_000; clock++) expect(admit(state, 1, clock, of)).toBe(true)
  expect(JSON.stringify(state).length).toBeLessThan(5000)
})

test('running totals go round 2^32 without a trace', () => {
  const of = { limit: 2 ** 32 - 1, windowMs: 10 }
  const state = slidingWindow.untouched()
  for (let clock = 0; clock < 1000; clock++) {
    expect(slidingWindow.evaluate(state, of, 0, clock).used).toBe(Math.min(clock, 9) * 400_000_000)
    expect(admit(state, 400_000_000, clock, of)).toBe(true)
  }
})

test('is idle exactly when a window has passed since the newest admission', () => {
  const state = slidingWindow.untouched()
  expect(slidingWindow.touched(state)).toBe(false)
  admit(state, 1, 1000)
  expect(slidingWindow.touched(state)).toBe(true)
  expect(slidingWindow.idle(state, quota, 1099)).toBe(false)
  expect(slidingWindow.idle(state, quota, 1100)).toBe(true)
})
