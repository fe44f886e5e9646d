import * as fc from 'fast-check'
import { createLimiter } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { peekIsLimit, resetIsExact, retryIsExact, type Timed, timedRequest, timedRequests } from './exactness.ts'
import { type StoreUnderTest, storeKinds } from './stores.ts'

const counter = fc.record({ limit: fc.integer({ min: 1, max: 40 }), window: fc.integer({ min: 1, max: 300 }) })
/** Some of them give an earlier admission back, or a part of it. */
const withRefunds = fc.array(
  fc.tuple(timedRequest, fc.option(fc.record({ back: fc.nat(9), share: fc.integer({ min: 1, max: 9 }) }))),
  { minLength: 1, maxLength: 60 },
)

for (const kind of storeKinds) {
  describe.skipIf(kind.skipped !== undefined)(`sliding counter: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    async function open(options: { limit: number; window: number }): Promise<Timed> {
      const clock = { now: 1000 }
      const store = await under.open(() => clock.now)
      const limiter = createLimiter({ name: 'property', algorithm: 'sliding-counter', ...options, store })
      return Object.assign(clock, { limiter })
    }

    test.each([
      ['retryAfterMs is exact: admitted at now + d, refused at now + d - 1', retryIsExact],
      ['resetAfterMs is exact: untouched at now + d, not at now + d - 1', resetIsExact],
      ['peek answers what limit answers next, field by field', peekIsLimit],
    ])('%s', async (_, holds) => {
      const property = fc.asyncProperty(counter, timedRequests, async (options, all) => holds(await open(options), all))
      await fc.assert(property, { numRuns: 50 })
    })

    test('admitted exactly where current + previous * (W - e) / W + cost <= limit, refunds taken out', async () => {
      const exact = fc.asyncProperty(counter, withRefunds, async ({ limit, window }, all) => {
        const timed = await open({ limit, window })
        const { limiter } = timed
        const admitted: { decision: Awaited<ReturnType<typeof limiter.limit>>; left: number }[] = []
        for (const [{ after, cost }, refund] of all) {
          timed.now += after
          const index = (time: number) => Math.floor(time / window)
          const inWindow = (ago: number) =>
            admitted
              .filter(({ decision }) => index(decision.at) === index(timed.now) - ago)
              .reduce((sum, { left }) => sum + left, 0)
          // Multiplied out, and small enough to be exact.
          const units = inWindow(0) * window + inWindow(1) * (window - (timed.now % window))
          const decision = await limiter.limit('k', { cost })
          expect(decision.allowed).toBe(units + cost * window <= limit * window)
          if (decision.allowed) admitted.push({ decision, left: cost })
          const meant = refund === null ? undefined : admitted.at(-1 - refund.back)
          if (refund === null || meant === undefined || meant.left === 0) continue
          const share = Math.min(refund.share, meant.left)
          const given = await limiter.refund('k', { cost: share, decision: meant.decision })
          expect(given).toBe(index(meant.decision.at) >= index(timed.now) - 1 ? share : 0)
          meant.left -= given
        }
      })
      await fc.assert(exact, { numRuns: 60 })
    })

    test('in no real window twice the limit is admitted', async () => {
      const bounded = fc.asyncProperty(counter, timedRequests, async ({ limit, window }, all) => {
        const timed = await open({ limit, window })
        const admitted: { at: number; cost: number }[] = []
        for (const { after, cost } of all) {
          timed.now += after
          const { allowed, at } = await timed.limiter.limit('k', { cost })
          if (allowed) admitted.push({ at, cost })
          const inside = admitted.filter((one) => one.at > at - window)
          expect(inside.reduce((sum, one) => sum + one.cost, 0)).toBeLessThan(2 * limit)
        }
      })
      await fc.assert(bounded, { numRuns: 60 })
    })

    test('lowered below what is used: cost 0 is refused too, until enough has passed', async () => {
      let now = 5000
      const store = await under.open(() => now)
      const as = (limit: number) =>
        createLimiter({ name: 'lowered', algorithm: 'sliding-counter', limit, window: 1000, store })
      await as(10).limit('k', { cost: 10 })
      expect(await as(4).limit('k', { cost: 0 })).toMatchObject({
        allowed: false,
        used: 10,
        remaining: 0,
        retryAfterMs: 1600,
        resetAfterMs: 2000,
      })
      now = 6599
      expect(await as(4).peek('k', { cost: 0 })).toMatchObject({ allowed: false, used: 5 })
      now = 6600
      expect(await as(4).limit('k', { cost: 0 })).toMatchObject({ allowed: true, used: 4 })
      expect(await as(10).limit('k', { cost: 6 })).toMatchObject({ allowed: true, used: 10, remaining: 0 })
    })
  })
}
