import { describe, expect, it, test } from 'vitest'
import { createLimiter, type LimiterOptions } from '../../limiter.ts'
import type { Windows } from '../../quota.ts'
import { compileRule } from '../../rule.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { UNTOUCHED } from '../algorithm.ts'
import { FixedWindow } from './fixed-window.ts'

/** A limiter on a clock that the test sets. */
function open(options: Partial<LimiterOptions>, start = 0) {
  const clock = { now: start }
  const store = memoryStore({ clock: () => clock.now })
  const limiter = createLimiter({ name: 'fixed', limit: 1000, algorithm: 'fixed-window', store, ...options })
  /** How many of so many requests are admitted at a time. */
  const admittedAt = (now: number, requests: number) => {
    clock.now = now
    let admitted = 0
    for (let i = 0; i < requests; i++) if (limiter.limitSync('k').allowed) admitted++
    return admitted
  }
  return { clock, limiter, store, admittedAt }
}

describe('the burst at an edge', () => {
  it('is twice the limit within a millisecond, where windows begin by the clock', () => {
    const { admittedAt } = open({ window: '1s' })
    expect(admittedAt(1_700_000_000_999, 1500) + admittedAt(1_700_000_001_000, 1500)).toBe(2000)
  })

  it('is not there for a client that starts late, where the first hit begins the window', () => {
    const { admittedAt } = open({ window: '1s', align: 'first-hit' })
    expect(admittedAt(1_700_000_000_999, 1500)).toBe(1000)
    expect(admittedAt(1_700_000_001_000, 1500)).toBe(0)
    expect(admittedAt(1_700_000_001_998, 1500)).toBe(0)
    expect(admittedAt(1_700_000_001_999, 1500)).toBe(1000)
  })

  it('is there even so for one that opens its window early and waits for its end', () => {
    const { admittedAt } = open({ window: '1s', align: 'first-hit' })
    expect(admittedAt(0, 1) + admittedAt(999, 1500) + admittedAt(1000, 1500)).toBe(2000)
  })
})

test('a day in Europe/Berlin has 23 hours in March and 25 in October', () => {
  for (const [morning, hours] of [
    ['2024-03-30T23:00Z', 23],
    ['2024-07-01T22:00Z', 24],
    ['2024-10-26T22:00Z', 25],
  ] as const) {
    const start = Date.parse(morning)
    const { limiter } = open({ limit: 1, align: 'day', timeZone: 'Europe/Berlin' }, start)
    expect(limiter.limitSync('k').resetAfterMs).toBe(hours * 3_600_000)
    expect(limiter.limitSync('k').retryAfterMs).toBe(hours * 3_600_000)
  }
})

test('an hour that the clock repeats is a window of its own', () => {
  const { admittedAt } = open({ limit: 5, align: 'hour', timeZone: 'Europe/Berlin' })
  expect(admittedAt(Date.parse('2024-10-27T00:30Z'), 9)).toBe(5)
  expect(admittedAt(Date.parse('2024-10-27T00:59:59.999Z'), 9)).toBe(0)
  expect(admittedAt(Date.parse('2024-10-27T01:00Z'), 9)).toBe(5)
})

test('windows that change while one is running leave that one as it is', () => {
  const machine = new FixedWindow()
  const rule = compileRule({ name: 'r', limit: 5, algorithm: 'fixed-window', window: 100 }, 'rule')
  const shifted: Windows = { at: (time) => ({ start: time - (time % 70), end: time - (time % 70) + 70 }) }
  const state = machine.open()
  machine.commit(state, rule, 5, 110)
  const changed = { ...rule, windows: shifted }
  expect(machine.evaluate(state, changed, 1, 199)).toMatchObject({ allowed: false, retryAfterMs: 1 })
  expect(machine.evaluate(state, changed, 1, 200)).toMatchObject({ allowed: true, used: 1, resetAfterMs: 10 })
})

test('a row that is given out again holds nothing of the one before', () => {
  const machine = new FixedWindow()
  const rule = compileRule({ name: 'r', limit: 5, algorithm: 'fixed-window', window: 100 }, 'rule')
  const state = machine.open()
  machine.commit(state, rule, 5, 50)
  machine.release(state)
  const again = machine.open()
  expect(again).toBe(state)
  expect(machine.idle(again, rule, 50)).toBe(true)
  machine.commit(again, rule, 1, 50)
  expect(machine.evaluate(again, rule, 0, 50)).toMatchObject({ used: 1, resetAfterMs: 50 })
  expect(machine.evaluate(UNTOUCHED, rule, 0, 50)).toMatchObject({ used: 0, resetAfterMs: 0 })
})

test('a key whose window is over is no longer kept', async () => {
  const { clock, limiter, store } = open({ limit: 5, window: 1000 })
  for (let i = 0; i < 20_000; i++) {
    clock.now = i
    limiter.limitSync(`k${i}`)
  }
  expect(store.stats().keys).toBeLessThan(4000)
})
