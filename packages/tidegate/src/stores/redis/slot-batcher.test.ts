import { expect, test } from 'vitest'
import type { Pending } from './pending.ts'
import { SlotBatcher } from './slot-batcher.ts'

const request = (key: string): Pending => ({
  checks: [],
  keys: [key],
  mode: 'consume',
  until: Number.POSITIVE_INFINITY,
  waiter: { resolve: () => {}, reject: () => {} },
})

/** A batcher whose batches stay in flight until they are let go. */
function open(maxPending: number, keysApart = false) {
  const batches: string[][] = []
  const arrivals: (() => void)[] = []
  const send = (batch: Pending[]) => {
    batches.push(batch.map(({ keys }) => keys[0] as string))
    return new Promise<void>((resolve) => arrivals.push(resolve))
  }
  return { batcher: new SlotBatcher({ send, maxBatch: 32, maxPending, keysApart }), batches, arrivals }
}

test('requests of one slot travel together, of different slots apart', async () => {
  const { batcher, batches } = open(100)
  for (const key of ['{a}1', '{b}1', '{a}2', '{a}3', '{b}2']) batcher.add(request(key))
  expect(batches).toEqual([['{a}1'], ['{b}1']])
  batcher.flush()
  expect(batches.slice(2)).toEqual([['{a}2', '{a}3'], ['{b}2']])
})

test('where keys may be apart, only requests for the same keys travel together', async () => {
  const { batcher, batches } = open(100, true)
  for (const key of ['{a}1', '{a}1', '{a}2', '{a}1', '{a}2']) batcher.add(request(key))
  batcher.flush()
  expect(batches).toEqual([['{a}1'], ['{a}1', '{a}1'], ['{a}2', '{a}2']])
})

test('what may wait is bounded over all slots, and freed by answers', async () => {
  const { batcher, arrivals } = open(3)
  for (const key of ['a', 'b', 'c']) batcher.add(request(key))
  expect(() => batcher.add(request('d'))).toThrow(expect.objectContaining({ code: 'ERR_STORE_OVERLOADED' }))
  arrivals[0]?.()
  await new Promise((resolve) => setImmediate(resolve))
  batcher.add(request('d'))
  expect(() => batcher.add(request('e'))).toThrow('3 decisions are waiting')
})
