import * as fc from 'fast-check'
import { createLimiter, type Limiter, memoryStore } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type StoreUnderTest, storeKinds } from './stores.ts'

const quota = fc.record({ limit: fc.integer({ min: 1, max: 40 }), window: fc.integer({ min: 1, max: 300 }) })
const requests = fc.array(
  fc.record({
    after: fc.integer({ min: 0, max: 12 }),
    cost: fc.integer({ min: 1, max: 9 }),
    id: fc.constantFrom('a', 'b:c', 'd'),
  }),
  { minLength: 1, maxLength: 50 },
)

for (const kind of storeKinds) {
  describe.skipIf(kind.skipped !== undefined)(`sliding log: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    let now = 1000
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    async function open(options: { limit: number; window: number }): Promise<Limiter> {
      now = 1000
      const store = await under.open(() => now)
      return createLimiter({ name: 'listed', algorithm: 'sliding-log', ...options, store })
    }

    async function at<Answer>(time: number, ask: () => Promise<Answer>): Promise<Answer> {
      const asked = now
      now = time
      const answer = await ask()
      now = asked
      return answer
    }

    test('decides as the sliding window does, and peek says what limit answers next', async () => {
      const same = fc.asyncProperty(quota, requests, async (options, all) => {
        const limiter = await open(options)
        const window = createLimiter({ name: 'window', ...options, store: memoryStore({ clock: () => now }) })
        for (const { after, cost, id } of all) {
          now += after
          const peeked = await limiter.peek('k', { cost, id })
          const decision = await limiter.limit('k', { cost, id })
          expect(decision).toEqual(peeked)
          const { version: _, rule: __, rules: ___, id: ____, ...figures } = await window.limit('k', { cost })
          expect(decision).toMatchObject(figures)
        }
      })
      await fc.assert(same, { numRuns: 30 })
    })

    test('retryAfterMs and resetAfterMs are exact', async () => {
      const exact = fc.asyncProperty(quota, requests, async (options, all) => {
        const limiter = await open(options)
        for (const { after, cost, id } of all) {
          now += after
          const { allowed, retryAfterMs, resetAfterMs } = await limiter.limit('k', { cost, id })
          if (resetAfterMs) {
            expect((await at(now + resetAfterMs - 1, () => limiter.peek('k', { cost: 0 }))).used).toBeGreaterThan(0)
            expect(await at(now + resetAfterMs, () => limiter.peek('k', { cost: 0 }))).toMatchObject({
              used: 0,
              resetAfterMs: 0,
            })
          }
          if (allowed) continue
          if (retryAfterMs === null) {
            expect(cost).toBeGreaterThan(options.limit)
            continue
          }
          expect((await at(now + retryAfterMs - 1, () => limiter.peek('k', { cost }))).allowed).toBe(false)
          expect((await at(now + retryAfterMs, () => limiter.peek('k', { cost }))).allowed).toBe(true)
        }
      })
      await fc.assert(exact, { numRuns: 30 })
    })

    test('the list is what was admitted and is live: its costs are used, and it never holds more than the limit', async () => {
      const listed = fc.asyncProperty(quota, requests, async (options, all) => {
        const limiter = await open(options)
        const admitted: { at: number; id: string; cost: number }[] = []
        for (const { after, cost, id } of all) {
          now += after
          const { allowed, at } = await limiter.limit('k', { cost, id })
          if (allowed) admitted.push({ at, id, cost })
          const entries = await limiter.entries('k')
          expect(entries).toEqual(admitted.filter((entry) => now < entry.at + options.window))
          const sum = entries.reduce((total, entry) => total + entry.cost, 0)
          expect(sum).toBeLessThanOrEqual(options.limit)
          expect((await limiter.peek('k', { cost: 0 })).used).toBe(sum)
        }
      })
      await fc.assert(listed, { numRuns: 20 })
    })

    test('a list of several pages is complete and in order, and each entry can be given back by its id', async () => {
      const limiter = await open({ limit: 10_000, window: 1000 })
      const ids = Array.from({ length: 3500 }, (_, i) => `i${i}`)
      await Promise.all(ids.slice(0, 2000).map((id) => limiter.limit('k', { id })))
      now += 1
      await Promise.all(ids.slice(2000).map((id) => limiter.limit('k', { id, cost: 2 })))
      expect((await limiter.entries('k')).map(({ id }) => id)).toEqual(ids)
      expect(await limiter.refund('k', { id: 'i3499', cost: 5 })).toBe(2)
      expect(await limiter.refund('k', { id: 'i1500', cost: 5 })).toBe(1)
      expect(await limiter.refund('k', { cost: 1600 })).toBe(1600)
      expect((await limiter.entries('k')).map(({ id }) => id)).toEqual(ids.slice(1601, 3499))
      expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ used: 399 + 2 * 1499 })
    })
  })
}
