import * as fc from 'fast-check'
import { createLimiter, type Limiter } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clusterKinds, type StoreUnderTest, storeKinds } from './stores.ts'

const quota = fc.record({ limit: fc.integer({ min: 1, max: 40 }), window: fc.integer({ min: 1, max: 300 }) })
const requests = fc.array(fc.record({ after: fc.integer({ min: 0, max: 12 }), cost: fc.integer({ min: 1, max: 9 }) }), {
  minLength: 1,
  maxLength: 60,
})

for (const kind of [...storeKinds, ...clusterKinds]) {
  describe.skipIf(kind.skipped !== undefined)(`properties: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    let now = 1000
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    async function open(options: { limit: number; window: number }): Promise<Limiter> {
      now = 1000
      return createLimiter({ name: 'property', ...options, store: await under.open(() => now) })
    }

    test('in every window ending at any recorded ms the admitted cost is at most the limit', async () => {
      const bounded = fc.asyncProperty(quota, requests, async (options, all) => {
        const limiter = await open(options)
        const admitted: { at: number; cost: number }[] = []
        for (const { after, cost } of all) {
          now += after
          const { allowed, at } = await limiter.limit('k', { cost })
          if (allowed) admitted.push({ at, cost })
        }
        for (const { at } of admitted) {
          const inside = admitted.filter((one) => one.at > at - options.window && one.at <= at)
          expect(inside.reduce((sum, { cost }) => sum + cost, 0)).toBeLessThanOrEqual(options.limit)
        }
      })
      await fc.assert(bounded, { numRuns: 60 })
    })

    test('retryAfterMs is exact: admitted at now + d, refused at now + d - 1', async () => {
      const exact = fc.asyncProperty(quota, requests, async (options, all) => {
        const limiter = await open(options)
        for (const { after, cost } of all) {
          now += after
          const { allowed, retryAfterMs } = await limiter.limit('k', { cost })
          if (allowed) continue
          if (retryAfterMs === null) {
            expect(cost).toBeGreaterThan(options.limit)
            continue
          }
          const asked = now
          now = asked + retryAfterMs - 1
          expect((await limiter.peek('k', { cost })).allowed).toBe(false)
          now = asked + retryAfterMs
          expect((await limiter.peek('k', { cost })).allowed).toBe(true)
          now = asked
        }
      })
      await fc.assert(exact, { numRuns: 60 })
    })

    test('resetAfterMs is exact: untouched at now + d, not at now + d - 1', async () => {
      const exact = fc.asyncProperty(quota, requests, async (options, all) => {
        const limiter = await open(options)
        for (const { after, cost } of all) {
          now += after
          const resetAfterMs = (await limiter.limit('k', { cost })).resetAfterMs ?? 0
          if (resetAfterMs === 0) continue
          const asked = now
          now = asked + resetAfterMs - 1
          expect((await limiter.peek('k', { cost: 0 })).used).toBeGreaterThan(0)
          now = asked + resetAfterMs
          expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ used: 0, resetAfterMs: 0 })
          now = asked
        }
      })
      await fc.assert(exact, { numRuns: 40 })
    })

    test('peek answers what limit answers next, field by field', async () => {
      const same = fc.asyncProperty(quota, requests, async (options, all) => {
        const limiter = await open(options)
        for (const { after, cost } of all) {
          now += after
          const peeked = await limiter.peek('k', { cost })
          expect(JSON.stringify(peeked)).toBe(JSON.stringify(await limiter.limit('k', { cost })))
        }
      })
      await fc.assert(same, { numRuns: 40 })
    })
  })
}
