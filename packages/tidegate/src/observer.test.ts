import { expect, test } from 'vitest'
import { checkObserver, notify } from './observer.ts'

test('an observer that throws, or rejects, breaks nothing', async () => {
  const told: string[] = []
  const observer = {
    lateReply: () => {
      told.push('late')
      throw new Error('no')
    },
    warning: async () => {
      told.push('warning')
      throw new Error('no')
    },
  }
  notify(observer, 'lateReply', { lateMs: 1 })
  notify(observer, 'warning', { code: 'TIDEGATE_STORE_EVICTS', message: 'm' })
  notify(observer, 'configRefusal', { source: 's', error: undefined })
  await new Promise((resolve) => setImmediate(resolve))
  expect(told).toEqual(['late', 'warning'])
})

test('its methods are called on it', () => {
  class Counter {
    count = 0
    lateReply() {
      this.count++
    }
  }
  const counter = new Counter()
  notify(checkObserver(counter), 'lateReply', { lateMs: 1 })
  expect(counter.count).toBe(1)
})

test.each([
  [5, 'observer: expected an object with functions among decision, fallback'],
  [{ fallback: 5 }, 'observer.fallback: expected a function, received 5'],
  [{ onFallback: () => undefined }, 'observer.onFallback: unknown option'],
])('%j is none', (value, message) => {
  expect(() => checkObserver(value)).toThrow(message)
})
