import { pino } from 'pino'
import { TidegateError } from 'tidegate'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { failureLog } from './failure-log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function logged() {
  const lines: string[] = []
  const logger = pino({}, { write: (line: string) => void lines.push(line) })
  const read = () =>
    lines.splice(0).map((line) => {
      const { level, operation, kind, count, msg } = JSON.parse(line)
      return [level, operation, kind, count, msg]
    })
  return { read, failures: failureLog(logger) }
}

const full = new TidegateError('ERR_STORE_UNAVAILABLE', 'Redis: OOM command not allowed')
const late = new TidegateError('ERR_STORE_UNAVAILABLE', 'Redis: Command timed out')
const foreign = new TidegateError('ERR_STATE_WRONG_TYPE', 'Redis: the key …')

test('the first failure of a kind is logged at once, the others as a count each minute', () => {
  const { failures, read } = logged()
  for (let i = 0; i < 3; i++) failures.failed('decide', full)
  failures.failed('decide', foreign)
  failures.failed('ping', late)
  expect(read()).toEqual([
    [40, 'decide', 'OOM', 1, 'the store fails'],
    [40, 'decide', 'ERR_STATE_WRONG_TYPE', 1, 'the store fails'],
    [40, 'ping', 'timeout', 1, 'the store fails'],
  ])
  vi.advanceTimersByTime(60_000)
  expect(read()).toEqual([[40, 'decide', 'OOM', 2, 'the store is still failing']])
})

test('it is over after a minute with successes of the same operation and without a failure', () => {
  const { failures, read } = logged()
  failures.failed('decide', full)
  failures.failed('decide', full)
  failures.succeeded('decide')
  vi.advanceTimersByTime(60_000)
  expect(read().length).toBe(2)
  failures.succeeded('ping')
  vi.advanceTimersByTime(60_000)
  expect(read()).toEqual([])
  failures.succeeded('decide')
  vi.advanceTimersByTime(60_000)
  expect(read()).toEqual([[30, 'decide', 'OOM', undefined, 'the store no longer fails']])
  failures.failed('decide', full)
  expect(read()).toEqual([[40, 'decide', 'OOM', 1, 'the store fails']])
})

test('what has lines of its own is not logged here', () => {
  const { failures, read } = logged()
  failures.failed('decide', new TidegateError('ERR_STORE_UNAVAILABLE', 'Redis: not connected'))
  failures.failed('decide', new TidegateError('ERR_STORE_UNAVAILABLE', 'Redis: READONLY a replica'))
  failures.failed('decide', new TidegateError('ERR_CLOSED', 'closed'))
  expect(read()).toEqual([])
})
