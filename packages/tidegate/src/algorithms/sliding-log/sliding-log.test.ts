import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLimiter } from '../../limiter.ts'
import { compileRule } from '../../rule.ts'
import { UNTOUCHED } from '../algorithm.ts'
import { SlidingLog } from './sliding-log.ts'

const quotaOf = (limit: number, window: number) =>
  compileRule({ name: 'r', algorithm: 'sliding-log', limit, window }, 'rule')

function open(of = quotaOf(9, 100)) {
  const algorithm = new SlidingLog()
  const states = new Map<string, number>()
  const evaluate = (name: string, cost: number, clock: number) =>
    algorithm.evaluate(states.get(name) ?? UNTOUCHED, of, cost, clock)
  const admit = (name: string, cost: number, clock: number) => {
    const { allowed, at } = evaluate(name, cost, clock)
    if (!allowed) return false
    if (!states.has(name)) states.set(name, algorithm.open())
    algorithm.commit(states.get(name) as number, of, cost, at, `${name}-${clock}`)
    return true
  }
  const list = (name: string, clock: number) => {
    const state = states.get(name)
    return state === undefined ? [] : algorithm.entries(state, of, clock)
  }
  const forget = (name: string) => {
    const state = states.get(name)
    if (state !== undefined) algorithm.release(state)
    states.delete(name)
  }
  return { algorithm, states, evaluate, admit, list, forget }
}

const steps = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    step: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 20 }) }, fc.integer({ min: -250, max: 250 })),
    cost: fc.integer({ min: 0, max: 4 }),
    forget: fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.constant(true)),
  }),
  { maxLength: 200, size: 'max' },
)

// The kind of fault: logs in slots that are given out again while somebody still holds them.
test('keys that come and go do not disturb each other: each decides and lists as if it were alone', () => {
  const apart = fc.property(steps, (all) => {
    const shared = open()
    const alone = new Map<string, ReturnType<typeof open>>()
    let clock = 1000
    for (const { name, step, cost, forget } of all) {
      clock = Math.max(0, clock + step)
      const own = alone.get(name) ?? open()
      alone.set(name, own)
      expect(shared.evaluate(name, cost, clock)).toEqual(own.evaluate(name, cost, clock))
      expect(shared.admit(name, cost, clock)).toBe(own.admit(name, cost, clock))
      expect(shared.list(name, clock)).toEqual(own.list(name, clock))
      if (!forget) continue
      shared.forget(name)
      alone.delete(name)
    }
  })
  void fc.assert(apart, { numRuns: 60 })
})

test('a log of any length: thousands of entries, dropped one by one and all at once', () => {
  const { admit, evaluate, list } = open(quotaOf(50_000, 20_000))
  let admitted = 0
  for (let clock = 0; clock < 60_000; clock++) if (admit('long', 2, clock)) admitted++
  expect(admitted).toBe(60_000)
  expect(evaluate('long', 0, 59_999).used).toBe(40_000)
  expect(evaluate('long', 20_000, 59_999)).toMatchObject({ allowed: false, retryAfterMs: 5000 })
  expect(list('long', 69_999)).toHaveLength(10_000)
  expect(admit('long', 50_000, 79_999)).toBe(true)
  expect(list('long', 79_999)).toEqual([{ at: 79_999, id: 'long-79999', cost: 50_000 }])
})

// The kind of fault: what is kept for a while keeps alive what it was made from.
test('an entry with an id that was made for it costs about its own text', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const limiter = createLimiter({ algorithm: 'sliding-log', limit: 50_000, window: '1h' })
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 50_000; i++) limiter.limitSync('k')
  collect()
  expect((process.memoryUsage().heapUsed - before) / 50_000).toBeLessThan(150)
  expect(limiter.peekSync('k').used).toBe(50_000)
})
