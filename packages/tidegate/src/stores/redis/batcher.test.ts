import { expect, test } from 'vitest'
import { Batcher } from './batcher.ts'
import type { Pending } from './pending.ts'

const request = (keys = 1): Pending => ({
  checks: [],
  keys: Array(keys).fill('k'),
  mode: 'consume',
  until: Number.POSITIVE_INFINITY,
  waiter: { resolve: () => {}, reject: () => {} },
})

/** A batcher whose batches stay in flight until they are let go. */
function open(maxBatch: number, maxPending = 1000) {
  const sizes: number[] = []
  const arrivals: (() => void)[] = []
  const send = (batch: Pending[]) => {
    sizes.push(batch.length)
    return new Promise<void>((resolve) => arrivals.push(resolve))
  }
  const batcher = new Batcher({ send, maxBatch, maxPending })
  const add = (count: number) => {
    for (let i = 0; i < count; i++) batcher.add(request())
  }
  /** To the end of this turn of the event loop, sockets not yet looked at. */
  const turn = () => new Promise<void>((resolve) => process.nextTick(() => process.nextTick(resolve)))
  /** To the end of this round, when all sockets have been read. */
  const round = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  return { batcher, sizes, arrivals, add, turn, round }
}

test('with nothing in flight a request leaves at once, alone', () => {
  const { sizes, add } = open(32)
  add(1)
  expect(sizes).toEqual([1])
})

test('the others of its turn leave when it ends, if they are several', async () => {
  const { sizes, add, turn } = open(32)
  add(1)
  add(20)
  expect(sizes).toEqual([1])
  await turn()
  expect(sizes).toEqual([1, 20])
})

test('requests that promise reactions add belong to the same turn', async () => {
  const { sizes, add, turn } = open(32)
  add(5)
  for (let i = 0; i < 7; i++) void Promise.resolve().then(() => add(1))
  await turn()
  expect(sizes).toEqual([1, 11])
})

// A service reads one request from each socket, and every one is a turn of its own.
test('a few wait for the other sockets of the round', async () => {
  const { sizes, add, turn, round } = open(32)
  add(1)
  for (let socket = 0; socket < 6; socket++) {
    add(1)
    await turn()
  }
  expect(sizes).toEqual([1])
  await round()
  expect(sizes).toEqual([1, 6])
})

test('a full batch leaves at once', async () => {
  const { sizes, add, round } = open(4)
  add(11)
  expect(sizes).toEqual([1, 4, 4])
  await round()
  expect(sizes).toEqual([1, 4, 4, 2])
})

test('a request of several keys that would not fit goes in the next batch', async () => {
  const { batcher, sizes, round } = open(4)
  for (const keys of [1, 3, 3, 2, 6]) batcher.add(request(keys))
  await round()
  expect(sizes).toEqual([1, 1, 1, 1, 1])
  for (const keys of [2, 2, 3, 1]) batcher.add(request(keys))
  await round()
  expect(sizes.slice(5)).toEqual([2, 2])
})

test('when all have arrived a request leaves at once again', async () => {
  const { sizes, arrivals, add, round } = open(32)
  add(3)
  await round()
  for (const arrive of arrivals) arrive()
  await round()
  add(1)
  expect(sizes).toEqual([1, 2, 1])
})

test('no more than maxPending wait for an answer; the rest are errors at once', async () => {
  const { batcher, arrivals, add, round } = open(4, 10)
  add(10)
  expect(() => batcher.add(request())).toThrow(expect.objectContaining({ code: 'ERR_STORE_OVERLOADED' }))
  arrivals[0]?.()
  await round()
  expect(() => batcher.add(request())).not.toThrow()
})
