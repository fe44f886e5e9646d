import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Membership } from './membership.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('is known by heartbeats, one at a time; the last number stands; it leaves when it stops', async () => {
  const beats: [string, number][] = []
  let answer: () => Promise<number> = async () => 3
  const membership = new Membership(undefined, (name, lifeMs) => {
    beats.push([name, lifeMs])
    return answer()
  })
  expect(membership.instances).toBe(1)
  membership.start()
  membership.start()
  await vi.advanceTimersByTimeAsync(0)
  expect([membership.instances, beats.length]).toEqual([3, 1])
  answer = () => Promise.reject(new Error('gone'))
  await vi.advanceTimersByTimeAsync(60_000)
  expect([membership.instances, beats.length]).toEqual([3, 13])
  answer = () => new Promise(() => undefined)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(beats.length).toBe(14)
  answer = async () => 2
  await membership.stop()
  const [name] = beats[0] as [string, number]
  expect(beats.at(-1)).toEqual([name, 0])
  expect(vi.getTimerCount()).toBe(0)
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, 1.5])('%s is no number of instances', async (odd) => {
  let answer: number = 4
  const membership = new Membership(undefined, async () => answer)
  membership.start()
  await vi.advanceTimersByTimeAsync(0)
  answer = odd
  await vi.advanceTimersByTimeAsync(5_000)
  expect(membership.instances).toBe(4)
  await membership.stop()
})

test('a thousand instances are that many, and none at all is this one', async () => {
  let answer = 1000
  const membership = new Membership(undefined, async () => answer)
  membership.start()
  await vi.advanceTimersByTimeAsync(0)
  expect(membership.instances).toBe(1000)
  answer = 0
  await vi.advanceTimersByTimeAsync(5_000)
  expect(membership.instances).toBe(1)
  await membership.stop()
})

test('a number that was given is never asked for', async () => {
  let beats = 0
  const membership = new Membership(8, async () => beats++)
  membership.start()
  await membership.stop()
  expect([membership.instances, beats]).toEqual([8, 0])
})
