import { expect, test } from 'vitest'
import { requestIdOf } from './request.ts'

test('a request without an id gets one of its own', () => {
  expect(requestIdOf(undefined)).toMatch(/^[0-9a-f-]{36}$/)
  expect(requestIdOf({})).not.toBe(requestIdOf({}))
  expect(requestIdOf({ id: 'order:17 ☃ 😀' })).toBe('order:17 ☃ 😀')
})

// The kind of fault: two names that become one on their way to a store.
test.each([[''], ['a\nb'], ['{a}'], ['x'.repeat(257)], ['half \ud83d'], ['\ude00'], [7], [null]])(
  '%j is no id',
  (id) => {
    expect(() => requestIdOf({ id: id as string })).toThrow('id: expected a string of 1 to 256 characters')
  },
)
