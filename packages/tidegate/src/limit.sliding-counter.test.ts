import { expect, test } from 'vitest'
import { compileRule } from './rule.ts'

const compile = (options: object) => compileRule({ name: 'r', algorithm: 'sliding-counter', ...options }, 'rule')

test('counts for two windows, and joins the window that it falls in', () => {
  expect(compile({ limit: 10, window: '1s' })).toMatchObject({
    algorithm: 'sliding-counter',
    limit: 10,
    windowMs: 1000,
    spanMs: 2000,
    resolutionMs: 1000,
  })
})

test('a limit of any size in a window of any length', () => {
  expect(compile({ limit: 2 ** 32 - 1, window: '366d' }).limit).toBe(2 ** 32 - 1)
  expect(compile({ limit: 0, window: 1 }).limit).toBe(0)
})

test('the window is part of the id, the limit is not', () => {
  const { id } = compile({ limit: 10, window: '1m' })
  expect(compile({ limit: 11, window: 60_000 }).id).toBe(id)
  expect(compile({ limit: 10, window: '2m' }).id).not.toBe(id)
  expect(compile({ limit: 10, window: '1m', algorithm: 'sliding-window' }).id).not.toBe(id)
})

test.each([
  ['no window', { limit: 1 }, /^rule\.window: expected whole milliseconds/],
  [
    'a resolution',
    { limit: 1, window: 9, resolution: 3 },
    'rule.resolution: expected none with the algorithm sliding-counter, which has window, received 3',
  ],
  [
    'a capacity',
    { limit: 1, window: 9, capacity: 3 },
    'rule.capacity: expected none with the algorithm sliding-counter, which has window, received 3',
  ],
])('%s is an error', (_, options, message) => {
  expect(() => compile(options)).toThrow(message)
})
