import { expect, test } from 'vitest'
import { compileRule } from './rule.ts'

const rule = { name: 'r', algorithm: 'sliding-log', limit: 5, window: '1m' } as const

test('a sliding log has a limit and a window', () => {
  expect(compileRule(rule, 'rule')).toMatchObject({
    algorithm: 'sliding-log',
    limit: 5,
    windowMs: 60_000,
    spanMs: 60_000,
  })
  expect(compileRule({ ...rule, limit: 4_000_000 }, 'rule').limit).toBe(4_000_000)
})

test('a changed limit keeps the counts, a changed window or algorithm starts anew', () => {
  const { id } = compileRule(rule, 'rule')
  expect(compileRule({ ...rule, limit: 6 }, 'rule').id).toBe(id)
  expect(compileRule({ ...rule, window: '2m' }, 'rule').id).not.toBe(id)
  expect(compileRule({ ...rule, algorithm: 'sliding-window' }, 'rule').id).not.toBe(id)
})

test.each([
  [
    { limit: 4_000_001 },
    'rule.limit: expected a whole number from 0 to 4,000,000, because sliding-log lists each admission, received 4000001',
  ],
  [{ window: undefined }, 'rule.window: expected'],
  [{ resolution: 10 }, 'rule.resolution: expected none with the algorithm sliding-log, which has window'],
])('%j is refused', (fields, message) => {
  expect(() => compileRule({ ...rule, ...fields }, 'rule')).toThrow(message)
})
