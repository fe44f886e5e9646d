import * as fc from 'fast-check'
import { createLimiter, type Limiter, memoryStore } from 'tidegate'
import type { Store } from 'tidegate/store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type StoreUnderTest, storeKinds } from './stores.ts'

interface Bucket {
  readonly limit: number
  readonly window: number
  readonly capacity?: number
}

/** The rule as it is now, on the state that is there. */
function as(store: Store, options: Bucket): Limiter {
  return createLimiter({ name: 'changed', algorithm: 'token-bucket', ...options, store })
}

const most = 2 ** 32 - 1
const change = fc.record({
  after: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: -20, max: 40 }) }, fc.integer({ min: 0, max: 4000 })),
  capacity: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constantFrom(0, 60, most)),
  limit: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(1, 997, most)),
  cost: fc.oneof(fc.integer({ min: 0, max: 7 }), fc.constantFrom(1, 60, most)),
  refund: fc.boolean(),
})

for (const kind of storeKinds) {
  describe.skipIf(kind.skipped !== undefined)(`changed token bucket: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    let now = 0
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    async function open(): Promise<Store> {
      now = 0
      return under.open(() => now)
    }

    test('a raised capacity is there at once', async () => {
      const store = await open()
      await as(store, { limit: 10, window: 1000 }).limit('k', { cost: 10 })
      expect(await as(store, { limit: 10, window: 1000, capacity: 25 }).limit('k', { cost: 15 })).toMatchObject({
        allowed: true,
        used: 25,
        remaining: 0,
        resetAfterMs: 2500,
      })
    })

    test('a capacity below what is missing: nothing is admitted, cost 0 included, until it has refilled', async () => {
      const store = await open()
      await as(store, { limit: 10, window: 1000 }).limit('k', { cost: 10 })
      const lower = as(store, { limit: 10, window: 1000, capacity: 4 })
      expect(await lower.limit('k', { cost: 0 })).toMatchObject({
        allowed: false,
        used: 10,
        remaining: 0,
        retryAfterMs: 600,
        resetAfterMs: 1000,
      })
      expect(await lower.limit('k')).toMatchObject({ allowed: false, retryAfterMs: 700 })
      now = 599
      expect(await lower.peek('k', { cost: 0 })).toMatchObject({ allowed: false, used: 5 })
      now = 600
      expect(await lower.peek('k', { cost: 0 })).toMatchObject({ allowed: true, used: 4 })
      now = 700
      expect(await lower.limit('k')).toMatchObject({ allowed: true, used: 4 })
    })

    test('a changed refill counts from the newest admission on; a remainder is kept, or rounded up by less than a token', async () => {
      const store = await open()
      await as(store, { limit: 3, window: 1000 }).limit('k', { cost: 3 })
      now = 250
      // 2 and a quarter are missing: at 4 a second a token has 250 units, so that the same is exact there.
      expect(await as(store, { limit: 4, window: 1000 }).peek('k', { cost: 0 })).toMatchObject({ used: 2 })
      now = 500
      await as(store, { limit: 3, window: 1000 }).limit('k', { cost: 1 })
      // 2.5 are missing. A token of 500 a second has 2 units, one of 1000 a second has 1 unit, of which 3 are missing.
      expect(await as(store, { limit: 500, window: 1000 }).peek('k', { cost: 0 })).toMatchObject({ resetAfterMs: 5 })
      expect(await as(store, { limit: 1000, window: 1000 }).peek('k', { cost: 0 })).toMatchObject({ resetAfterMs: 3 })
      expect(await as(store, { limit: 3, window: 1000 }).peek('k', { cost: 0 })).toMatchObject({ resetAfterMs: 834 })
    })

    test('a refill that is slowed down by far: waits longer than anyone can, and no error', async () => {
      const store = await open()
      const window = 366 * 86_400_000
      await as(store, { limit: 1_000_000_000, window }).limit('k', { cost: 1_000_000_000 })
      const slow = as(store, { limit: 1, window, capacity: 1 })
      expect(await slow.limit('k')).toMatchObject({ allowed: false, used: 1_000_000_000, retryAfterMs: 2 ** 52 })
      expect(await slow.refund('k', { cost: 999_999_999 })).toBe(999_999_999)
      expect(await slow.limit('k')).toMatchObject({ allowed: false, used: 1, retryAfterMs: window })
    })

    test('random changes: every field as in memory', async () => {
      const same = fc.asyncProperty(
        fc.integer({ min: 1, max: 700 }),
        fc.array(change, { maxLength: 60 }),
        async (window, all) => {
          const [other, memory] = [await open(), memoryStore({ clock: () => now })]
          for (const { after, capacity, limit, cost, refund } of all) {
            now = Math.max(0, now + after)
            const [ours, theirs] = [memory, other].map((store) => as(store, { limit, window, capacity })) as [
              Limiter,
              Limiter,
            ]
            if (refund) expect(await theirs.refund('k', { cost })).toBe(await ours.refund('k', { cost }))
            else expect(await theirs.limit('k', { cost })).toEqual(await ours.limit('k', { cost }))
          }
        },
      )
      await fc.assert(same, { numRuns: 80 })
    })
  })
}
