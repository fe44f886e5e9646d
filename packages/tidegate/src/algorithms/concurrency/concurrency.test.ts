import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileRule } from '../../rule.ts'
import { UNTOUCHED } from '../algorithm.ts'
import { Concurrency } from './concurrency.ts'

const quota = compileRule({ name: 'r', algorithm: 'concurrency', limit: 9, window: 100 }, 'rule')

function open() {
  const algorithm = new Concurrency()
  const states = new Map<string, number>()
  const evaluate = (name: string, id: string, clock: number) =>
    algorithm.evaluate(states.get(name) ?? UNTOUCHED, quota, 1, clock, id)
  const admit = (name: string, id: string, clock: number) => {
    const { allowed, at } = evaluate(name, id, clock)
    if (!allowed) return
    if (!states.has(name)) states.set(name, algorithm.open())
    algorithm.commit(states.get(name) as number, quota, 1, at, id)
  }
  const release = (name: string, id: string, clock: number) =>
    algorithm.refund(states.get(name) ?? algorithm.open(), quota, 9, clock, { at: undefined, id })
  const forget = (name: string) => {
    const state = states.get(name)
    if (state !== undefined) algorithm.release(state)
    states.delete(name)
  }
  return { algorithm, states, evaluate, admit, release, forget }
}

const steps = fc.array(
  fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    id: fc.nat(14).map(String),
    step: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 20 }) }, fc.integer({ min: -250, max: 250 })),
    op: fc.constantFrom('admit' as const, 'admit' as const, 'release' as const),
    forget: fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.constant(true)),
  }),
  { maxLength: 200, size: 'max' },
)

// The kind of fault: leases in slots that are given out again while somebody still holds them.
test('keys that come and go do not disturb each other: each decides as if it were alone', () => {
  const apart = fc.property(steps, (all) => {
    const shared = open()
    const alone = new Map<string, ReturnType<typeof open>>()
    let clock = 1000
    for (const { name, id, step, op, forget } of all) {
      clock = Math.max(0, clock + step)
      const own = alone.get(name) ?? open()
      alone.set(name, own)
      expect(shared.evaluate(name, id, clock)).toEqual(own.evaluate(name, id, clock))
      expect(shared[op](name, id, clock)).toEqual(own[op](name, id, clock))
      if (!forget) continue
      shared.forget(name)
      alone.delete(name)
    }
  })
  void fc.assert(apart, { numRuns: 60 })
})

test('is idle exactly when the last lease has ended', () => {
  const { algorithm, states, admit, release } = open()
  admit('k', 'a', 1000)
  admit('k', 'b', 1050)
  const state = states.get('k') as number
  expect([algorithm.idle(state, quota, 1149), algorithm.idle(state, quota, 1150)]).toEqual([false, true])
  release('k', 'b', 1060)
  expect([algorithm.idle(state, quota, 1099), algorithm.idle(state, quota, 1100)]).toEqual([false, true])
  release('k', 'a', 1060)
  expect(algorithm.idle(state, quota, 0)).toBe(true)
})
