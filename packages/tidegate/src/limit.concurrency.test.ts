import { expect, test } from 'vitest'
import { compileRule } from './rule.ts'

const rule = { name: 'r', algorithm: 'concurrency', limit: 5, window: '30s' } as const

test('concurrency has a limit, and the life of a lease as its window', () => {
  const compiled = { algorithm: 'concurrency', limit: 5, windowMs: 30_000, spanMs: 30_000 }
  expect(compileRule(rule, 'rule')).toMatchObject(compiled)
})

test('a changed limit keeps the leases, a changed life starts anew', () => {
  const { id } = compileRule(rule, 'rule')
  expect(compileRule({ ...rule, limit: 6 }, 'rule').id).toBe(id)
  expect(compileRule({ ...rule, window: '1m' }, 'rule').id).not.toBe(id)
  expect(compileRule({ ...rule, algorithm: 'sliding-log' }, 'rule').id).not.toBe(id)
})

test.each([
  [{ limit: 4_000_001 }, 'rule.limit: expected a whole number from 0 to 4,000,000, because concurrency lists'],
  [{ window: undefined }, 'rule.window: expected'],
  [{ resolution: 10 }, 'rule.resolution: expected none with the algorithm concurrency, which has window'],
])('%j is refused', (fields, message) => {
  expect(() => compileRule({ ...rule, ...fields }, 'rule')).toThrow(message)
})
