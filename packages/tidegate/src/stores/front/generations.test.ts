import { expect, test } from 'vitest'
import type { Rule } from '../../rule.ts'
import { Generations } from './generations.ts'

const rule = { id: 'r.1' } as Rule
const other = { id: 'r.2' } as Rule

test('values are kept by rule and key', () => {
  const kept = new Generations<number>(10)
  expect(kept.isEmpty).toBe(true)
  kept.set(rule, 'a', 1)
  kept.set(other, 'a', 2)
  kept.set(rule, ['a', 'b'], 3)
  expect([kept.get(rule, 'a'), kept.get(other, 'a'), kept.get(rule, ['a', 'b'])]).toEqual([1, 2, 3])
  kept.delete(rule, 'a')
  expect([kept.get(rule, 'a'), kept.size, kept.isEmpty]).toEqual([undefined, 2, false])
})

test('never more than were asked for, however many are added; who is used stays', () => {
  const kept = new Generations<number>(100)
  kept.set(rule, 'used', 1)
  for (let i = 0; i < 10_000; i++) {
    kept.set(i % 2 === 0 ? rule : other, `k${i}`, i)
    if (i % 20 === 0) expect(kept.get(rule, 'used')).toBe(1)
    expect(kept.size).toBeLessThanOrEqual(100)
  }
  expect(kept.get(rule, 'k5')).toBeUndefined()
  expect(kept.get(other, 'k9999')).toBe(9999)
})
