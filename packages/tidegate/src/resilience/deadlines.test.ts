import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Deadlines } from './deadlines.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const clock = () => performance.now()
const ROUND_MS = 1

test('each ends at its time, in order, and one that is settled does not', () => {
  const deadlines = new Deadlines(20, clock)
  const ended: [string, number][] = []
  const start = (name: string) => deadlines.start(() => ended.push([name, clock()]))
  start('a')
  vi.advanceTimersByTime(5)
  expect([deadlines.settle(start('b'))]).toEqual([true])
  start('c')
  vi.advanceTimersByTime(7)
  start('d')
  vi.advanceTimersByTime(100)
  expect(ended.map(([name]) => name)).toEqual(['a', 'c', 'd'])
  // The faked round after the timer takes a ms.
  expect(ended.map(([, at]) => at)).toEqual([20, 25, 32].map((at) => at + ROUND_MS))
})

test('how late it is told, where this process stood still', () => {
  const deadlines = new Deadlines(20, clock)
  const lags: number[] = []
  deadlines.start((lagMs) => lags.push(lagMs))
  vi.spyOn(performance, 'now').mockReturnValue(220)
  vi.advanceTimersByTime(30)
  vi.restoreAllMocks()
  expect(lags).toEqual([200])
})

test('there is one timer, however many wait, and none when nobody does', () => {
  const deadlines = new Deadlines(20, clock)
  let ended = 0
  for (let i = 0; i < 10_000; i++) deadlines.start(() => ended++)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(21)
  expect([ended, vi.getTimerCount()]).toEqual([10_000, 0])
})

test('one that is started when another ends is not forgotten', () => {
  const deadlines = new Deadlines(20, clock)
  const ended: number[] = []
  deadlines.start(() => {
    ended.push(clock())
    deadlines.start(() => ended.push(clock()))
  })
  vi.advanceTimersByTime(100)
  expect(ended).toEqual([20 + ROUND_MS, 40 + 2 * ROUND_MS])
})

test('what has arrived while this process stood still is seen first', () => {
  const deadlines = new Deadlines(20, clock)
  let isLate = false
  const deadline = deadlines.start(() => {
    isLate = true
  })
  vi.advanceTimersToNextTimer()
  // The sockets are read between the timer and what it set in motion.
  expect([deadlines.settle(deadline), deadlines.settle(deadline)]).toEqual([true, false])
  vi.advanceTimersByTime(100)
  expect(isLate).toBe(false)
})
