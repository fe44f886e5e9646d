import { expect, test } from 'vitest'
import type { Pending } from './batch.ts'
import { Batcher } from './batcher.ts'

const request = (): Pending => ({ checks: [], keys: ['k'], mode: 'consume', resolve: () => {}, reject: () => {} })

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
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return { batcher, sizes, arrivals, add, turn }
}

test('with nothing in flight a request leaves at once, alone', () => {
  const { sizes, add } = open(32)
  add(1)
  expect(sizes).toEqual([1])
})

test('the others of its turn leave together', async () => {
  const { sizes, add, turn } = open(32)
  add(1)
  add(7)
  expect(sizes).toEqual([1])
  await turn()
  expect(sizes).toEqual([1, 7])
})

test('requests that promise reactions add belong to the same turn', async () => {
  const { sizes, add, turn } = open(32)
  add(2)
  for (let i = 0; i < 5; i++) void Promise.resolve().then(() => add(1))
  await turn()
  expect(sizes).toEqual([1, 6])
})

test('a full batch leaves at once', async () => {
  const { sizes, add, turn } = open(4)
  add(11)
  expect(sizes).toEqual([1, 4, 4])
  await turn()
  expect(sizes).toEqual([1, 4, 4, 2])
})

test('when all have arrived a request leaves at once again', async () => {
  const { sizes, arrivals, add, turn } = open(32)
  add(3)
  await turn()
  for (const arrive of arrivals) arrive()
  await turn()
  add(1)
  expect(sizes).toEqual([1, 2, 1])
})

test('no more than maxPending wait for an answer; the rest are errors at once', async () => {
  const { batcher, arrivals, add, turn } = open(4, 10)
  add(10)
  expect(() => batcher.add(request())).toThrow(expect.objectContaining({ code: 'ERR_STORE_OVERLOADED' }))
  arrivals[0]?.()
  await turn()
  expect(() => batcher.add(request())).not.toThrow()
})
