import { pino } from 'pino'
import type { FallbackEvent } from 'tidegate'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fallbackLog } from './fallback-log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function logged() {
  const lines: string[] = []
  const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) })
  const read = () => lines.splice(0).map((line) => JSON.parse(line))
  return { read, ...fallbackLog(logger) }
}

const fallback = (allowed: boolean): FallbackEvent => ({
  cause: 'deadline',
  allowed,
  rules: [{ rule: 'hourly', policy: 'local', allowed }],
})

test('the first decision without the store is logged at once, the others as a count each minute, and the end', () => {
  const { read, observer, close } = logged()
  for (const allowed of [true, true, false]) observer.fallback?.(fallback(allowed))
  expect(read()).toEqual([
    {
      level: 40,
      cause: 'deadline',
      allowed: true,
      rule: 'hourly',
      policy: 'local',
      msg: 'a decision was made without the store',
    },
  ])
  vi.advanceTimersByTime(60_000)
  expect(read()).toEqual([{ level: 40, count: 2, refused: 1, msg: 'decisions are still made without the store' }])
  vi.advanceTimersByTime(60_000)
  expect(read()).toEqual([{ level: 30, msg: 'no decision has been made without the store for a minute' }])
  vi.advanceTimersByTime(60_000)
  observer.fallback?.(fallback(false))
  expect(read().length).toBe(1)
  close()
  expect(vi.getTimerCount()).toBe(0)
})

test('a breaker that opens is a warning, one that closes a word', () => {
  const { read, observer } = logged()
  observer.breakerChange?.({ from: 'closed', to: 'open', retryInMs: 99.6 })
  observer.breakerChange?.({ from: 'open', to: 'half-open', retryInMs: 0 })
  observer.breakerChange?.({ from: 'half-open', to: 'closed', retryInMs: 0 })
  observer.warning?.({ code: 'TIDEGATE_STORE_EVICTS', message: 'Redis may evict keys' })
  expect(read()).toEqual([
    { level: 40, from: 'closed', to: 'open', retryInMs: 100, msg: 'the store is not asked: it has failed too often' },
    { level: 30, from: 'half-open', to: 'closed', retryInMs: 0, msg: 'the store is asked again' },
    { level: 40, code: 'TIDEGATE_STORE_EVICTS', msg: 'Redis may evict keys' },
  ])
})
