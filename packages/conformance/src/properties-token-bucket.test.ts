import * as fc from 'fast-check'
import { createLimiter, type Decision } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { peekIsLimit, resetIsExact, retryIsExact, type Timed, timedRequest, timedRequests } from './exactness.ts'
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
/** Some of them give an earlier admission back: so many before the latest, and so much of it. */
const refunds = fc.array(
  fc.tuple(timedRequest, fc.option(fc.record({ back: fc.nat(4), share: fc.integer({ min: 1, max: 9 }) }))),
  { minLength: 1, maxLength: 60 },
)

for (const kind of storeKinds) {
  describe.skipIf(kind.skipped !== undefined)(`token bucket: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    async function open(options: Bucket): Promise<Timed> {
      const clock = { now: 1000 }
      const store = await under.open(() => clock.now)
      const limiter = createLimiter({ name: 'property', algorithm: 'token-bucket', ...options, store })
      return Object.assign(clock, { limiter })
    }

    test('in every interval what is admitted and not given back is at most the capacity and the refill', async () => {
      const bounded = fc.asyncProperty(bucket, refunds, async (options, all) => {
        const timed = await open(options)
        const { limiter } = timed
        const admitted: { decision: Decision; left: number; isGivenBack: boolean }[] = []
        for (const [{ after, cost }, refund] of all) {
          timed.now += after
          const decision = await limiter.limit('k', { cost })
          if (decision.allowed) admitted.push({ decision, left: cost, isGivenBack: false })
          const meant = refund === null ? undefined : admitted.at(-1 - refund.back)
          if (refund === null || meant === undefined || meant.isGivenBack) continue
          meant.isGivenBack = true
          const share = Math.min(refund.share, meant.left)
          const given = await limiter.refund('k', { cost: share, decision: meant.decision })
          // What has come since is not given back again: a part of a token, where a whole one is said to be.
          const exactly = Math.max(0, share - ((timed.now - meant.decision.at) * options.limit) / options.window)
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

    test.each([
      ['retryAfterMs is exact: admitted at now + d, refused at now + d - 1', retryIsExact],
      ['resetAfterMs is exact: full at now + d, not at now + d - 1', resetIsExact],
      ['peek answers what limit answers next, field by field', peekIsLimit],
    ])('%s', async (_, holds) => {
      const property = fc.asyncProperty(bucket, timedRequests, async (options, all) => holds(await open(options), all))
      await fc.assert(property, { numRuns: 50 })
    })

    test.each([80_000, 2_000_000])(
      '%i a second, drained at random ms of a minute, gives exactly that',
      async (rate) => {
        const timed = await open({ limit: rate, window: 1000, capacity: rate })
        const { limiter } = timed
        let admitted = 0
        for (let i = 0; timed.now <= 61_000; timed.now += 1 + ((i * 37) % 500), i++) {
          const { remaining } = await limiter.peek('k', { cost: 0 })
          admitted += (await limiter.limit('k', { cost: remaining })).allowed ? remaining : 0
          expect(admitted).toBe(rate + Math.floor((rate * (timed.now - 1000)) / 1000))
        }
      },
    )
  })
}
