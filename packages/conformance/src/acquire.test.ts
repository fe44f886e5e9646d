import { createGate, createLimiter, type Decision } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type StoreUnderTest, storeKinds } from './stores.ts'
import { mostInAnyWindow } from './windows.ts'

const [LIMIT, WINDOW_MS] = [10, 100]

for (const kind of storeKinds) {
  describe.skipIf(kind.skipped !== undefined)(`acquire, in real time: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    test('50 waiters on one key: in order, and in no window too many', async () => {
      const limiter = createLimiter({ name: 'order', limit: LIMIT, window: WINDOW_MS, store: await under.open() })
      const order: number[] = []
      const decisions = await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          const decision = await limiter.acquire('k')
          order.push(i)
          return decision
        }),
      )
      expect(decisions.every(({ allowed }) => allowed)).toBe(true)
      expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i))
      const times = decisions.map(({ at }) => at)
      expect(times).toEqual([...times].sort((a, b) => a - b))
      expect(mostInAnyWindow(times, WINDOW_MS)).toBeLessThanOrEqual(LIMIT)
    })

    test('two processes, as it were: each keeps its order, together they keep the limit', async () => {
      const store = await under.open()
      const limiters = [1, 2].map(() => createLimiter({ name: 'shared', limit: LIMIT, window: WINDOW_MS, store }))
      const order: number[][] = [[], []]
      const waiting = limiters.flatMap((limiter, l) =>
        Array.from({ length: 20 }, async (_, i) => {
          const decision = await limiter.acquire('k')
          order[l]?.push(i)
          return decision
        }),
      )
      const decisions = await Promise.all(waiting)
      const inOrder = Array.from({ length: 20 }, (_, i) => i)
      expect(order).toEqual([inOrder, inOrder])
      const times = decisions.map(({ at }) => at).sort((a, b) => a - b)
      expect(mostInAnyWindow(times, WINDOW_MS)).toBeLessThanOrEqual(LIMIT)
    })

    test('aborted on the way: the counters know only of those who got through', async () => {
      const limiter = createLimiter({ name: 'abort', limit: 1000, window: '1h', store: await under.open() })
      const waiting = Array.from({ length: 40 }, (_, i) => {
        const controller = new AbortController()
        const promise = limiter.acquire('k', { signal: controller.signal })
        // Some before the first question has been answered, some in between.
        if (i % 2 === 1) setTimeout(() => controller.abort(), (i >> 2) & 3)
        return promise
      })
      const settled = await Promise.allSettled(waiting)
      // The line is empty once one who came after all of them has got through: what was to be given back has been.
      await limiter.acquire('k')
      const through = settled.filter(({ status }) => status === 'fulfilled')
      expect(through.length).toBeGreaterThanOrEqual(20)
      expect((await limiter.peek('k', { cost: 0 })).used).toBe(through.length + 1)
    })

    test('a gate of two rules, with a cost above one of them refused at once', async () => {
      const rules = [
        { name: 'user', key: ['user'], limit: 2, window: 50 },
        { name: 'all', limit: 3, window: 150 },
      ]
      const gate = createGate({ rules, store: await under.open() })
      const order: number[] = []
      const acquire = async (i: number, cost: number): Promise<Decision> => {
        const decision = await gate.acquire({ user: 'u' }, { cost })
        order.push(i)
        return decision
      }
      const decisions = await Promise.all([1, 1, 1, 3, 1, 2].map((cost, i) => acquire(i, cost)))
      expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false, true, true])
      expect(decisions[3]).toMatchObject({ rule: 'user', reason: 'cost_exceeds_limit', retryAfterMs: null })
      expect(order.filter((i) => i !== 3)).toEqual([0, 1, 2, 4, 5])
      const [first, , third, , fifth] = decisions.map(({ at }) => at) as [number, number, number, number, number]
      expect(third - first).toBeGreaterThanOrEqual(50)
      expect(fifth - first).toBeGreaterThanOrEqual(150)
    })
  })
}
