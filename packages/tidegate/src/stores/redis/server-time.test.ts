import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ServerTime } from './server-time.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout'], now: 1_700_000_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A reply that took `there` ms to the server, whose clock is `ahead` of ours, and `back` ms from it. */
function reply(time: ServerTime, ahead: number, there: number, back: number) {
  const sent = performance.now()
  vi.advanceTimersByTime(there)
  const at = Date.now() + ahead
  vi.advanceTimersByTime(back)
  time.seen(at, sent)
}

const lag = (time: ServerTime, ahead: number) => Date.now() + ahead - time.latest(performance.now())

test('before the first reply the clocks are taken to be the same, and nothing is said of them', () => {
  const time = new ServerTime()
  expect([time.now(), time.skewMs()]).toEqual([Date.now(), undefined])
})

test('is as late as the fastest way back, and never ahead', () => {
  const time = new ServerTime()
  reply(time, 5000, 5, 15)
  expect(lag(time, 5000)).toBe(15)
  reply(time, 5000, 1, 2)
  expect(lag(time, 5000)).toBe(2)
  reply(time, 5000, 20, 30)
  expect(lag(time, 5000)).toBe(2)
  expect(time.skewMs()).toBe(4998)
})

test('follows a server whose clock is set, forward or back', () => {
  const time = new ServerTime()
  reply(time, 0, 1, 1)
  reply(time, 60_000, 1, 1)
  expect(lag(time, 60_000)).toBe(1)
  reply(time, -60_000, 1, 3)
  expect(lag(time, -60_000)).toBe(3)
})

test('does not follow our own clock when that is set', () => {
  const time = new ServerTime()
  reply(time, 0, 1, 1)
  const before = time.latest(performance.now() + 20)
  vi.setSystemTime(Date.now() + 3_600_000)
  expect(time.latest(performance.now() + 20)).toBe(before)
  expect(time.skewMs()).toBe(-3_600_001)
})

test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY])('a time that is none (%d) says nothing', (at) => {
  const time = new ServerTime()
  time.seen(at, performance.now())
  expect([time.now(), time.skewMs()]).toEqual([Date.now(), undefined])
})
