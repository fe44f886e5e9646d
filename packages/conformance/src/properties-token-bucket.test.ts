import * as fc from 'fast-check'
import { createLimiter, type Decision, type Limiter } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type StoreUnderTest, storeKinds } from './stores.ts'

interface Bucket {
  readonly limit: number
  readonly window: number
  readonly capacity: number
}

const bucket: fc.Arbitrary<Bucket> = fc.record({
  limit: fc.integer({ min: 1, max: 60 }),
  window: fc.integer({ min: 1, max: 300 }),
  capacity: fc.integer({ min: 1, max: 40 }),
})
const request = fc.record({ after: fc.integer({ min: 0, max: 12 }), cost: fc.integer({ min: 1, max: 9 }) })
const requests = fc.array(request, { minLength: 1, maxLength: 60 })
/** Some of them give an earlier admission back: so many before the latest, and so much of it. */
const refunds = fc.array(
  fc.tuple(request, fc.option(fc.record({ back: fc.nat(4), share: fc.integer({ min: 1, max: 9 }) }))),
  { minLength: 1, maxLength: 60 },
)

for (const kind of storeKinds) {
  describe.skipIf(kind.skipped !== undefined)(`token bucket: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    let now = 1000
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    async function open(options: Bucket): Promise<Limiter> {
      now = 1000
      const store = await under.open(() => now)
      return createLimiter({ name: 'property', algorithm: 'token-bucket', ...options, store })
    }

    test('in every interval what is admitted and not given back is at most the capacity and the refill', async () => {
      const bounded = fc.asyncProperty(bucket, refunds, async (options, all) => {
        const limiter = await open(options)
        const admitted: { decision: Decision; left: number; isGivenBack: boolean }[] = []
        for (const [{ after, cost }, refund] of all) {
          now += after
          const decision = await limiter.limit('k', { cost })
          if (decision.allowed) admitted.push({ decision, left: cost, isGivenBack: false })
          const meant = refund === null ? undefined : admitted.at(-1 - refund.back)
          if (refund === null || meant === undefined || meant.isGivenBack) continue
          meant.isGivenBack = true
          const share = Math.min(refund.share, meant.left)
          const given = await limiter.refund('k', { cost: share, decision: meant.decision })
          // What has come since is not given back again: a part of a token, where a whole one is said to be.
          const exactly = Math.max(0, share - ((now - meant.decision.at) * options.limit) / options.window)
          expect(given).toBeLessThanOrEqual(Math.ceil(exactly - 1e-9))
          meant.left -= Math.min(given, exactly)
        }
        for (const [i, first] of admitted.entries()) {
          let sum = 0
          for (const { decision, left } of admitted.slice(i)) {
            sum += left
            const refilled = ((decision.at - first.decision.at) * options.limit) / options.window
            expect(sum).toBeLessThanOrEqual(options.capacity + refilled + 1e-9)
          }
        }
      })
      await fc.assert(bounded, { numRuns: 60 })
    })

    test('retryAfterMs is exact: admitted at now + d, refused at now + d - 1; null where never', async () => {
      const exact = fc.asyncProperty(bucket, requests, async (options, all) => {
        const limiter = await open(options)
        for (const { after, cost } of all) {
          now += after
          const { allowed, retryAfterMs } = await limiter.limit('k', { cost })
          if (allowed) continue
          if (retryAfterMs === null) {
            expect(cost).toBeGreaterThan(options.capacity)
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

    test('resetAfterMs is exact: full at now + d, not at now + d - 1', async () => {
      const exact = fc.asyncProperty(bucket, requests, async (options, all) => {
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
      const same = fc.asyncProperty(bucket, requests, async (options, all) => {
        const limiter = await open(options)
        for (const { after, cost } of all) {
          now += after
          const peeked = await limiter.peek('k', { cost })
          expect(JSON.stringify(peeked)).toBe(JSON.stringify(await limiter.limit('k', { cost })))
        }
      })
      await fc.assert(same, { numRuns: 40 })
    })

    test.each([80_000, 2_000_000])(
      '%i a second, drained at random ms of a minute, gives exactly that',
      async (rate) => {
        const limiter = await open({ limit: rate, window: 1000, capacity: rate })
        let admitted = 0
        for (let i = 0; now <= 61_000; now += 1 + ((i * 37) % 500), i++) {
          const { remaining } = await limiter.peek('k', { cost: 0 })
          admitted += (await limiter.limit('k', { cost: remaining })).allowed ? remaining : 0
          expect(admitted).toBe(rate + Math.floor((rate * (now - 1000)) / 1000))
        }
      },
    )
  })
}
