import * as fc from 'fast-check'
import { createLimiter, type Limiter } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type StoreUnderTest, storeKinds } from './stores.ts'

const quota = fc.record({ limit: fc.integer({ min: 1, max: 30 }), window: fc.integer({ min: 1, max: 200 }) })
const steps = fc.array(
  fc.record({
    after: fc.integer({ min: 0, max: 12 }),
    cost: fc.integer({ min: 1, max: 9 }),
    id: fc.nat(20).map((n) => `lease-${n}`),
    op: fc.constantFrom('limit', 'limit', 'limit', 'release', 'renew'),
  }),
  { minLength: 1, maxLength: 60 },
)

for (const kind of storeKinds) {
  describe.skipIf(kind.skipped !== undefined)(`concurrency: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    let now = 1000
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    async function open(options: { limit: number; window: number }): Promise<Limiter> {
      now = 1000
      const store = await under.open(() => now)
      return createLimiter({ name: 'held', algorithm: 'concurrency', ...options, store })
    }

    async function at<Answer>(time: number, ask: () => Promise<Answer>): Promise<Answer> {
      const asked = now
      now = time
      const answer = await ask()
      now = asked
      return answer
    }

    test('what is held is what was granted and neither released nor expired, and never more than the limit', async () => {
      const held = fc.asyncProperty(quota, steps, async ({ limit, window }, all) => {
        const limiter = await open({ limit, window })
        const leases = new Map<string, { at: number; cost: number }>()
        for (const { after, cost, id, op } of all) {
          now += after
          for (const [name, lease] of leases) if (now >= lease.at + window) leases.delete(name)
          const lease = leases.get(id)
          if (op === 'limit') {
            const peeked = await limiter.peek('k', { cost, id })
            const decision = await limiter.limit('k', { cost, id })
            expect(decision).toEqual(peeked)
            expect(decision.allowed || lease === undefined).toBe(true)
            if (decision.allowed) leases.set(id, { at: now, cost: lease?.cost ?? cost })
          } else {
            expect(await limiter[op]('k', id)).toBe(lease !== undefined)
            if (op === 'release') leases.delete(id)
            else if (lease !== undefined) leases.set(id, { ...lease, at: now })
          }
          const costs = [...leases.values()].reduce((sum, one) => sum + one.cost, 0)
          expect(costs).toBeLessThanOrEqual(limit)
          expect((await limiter.peek('k', { cost: 0 })).used).toBe(costs)
        }
        const listed = await limiter.entries('k')
        expect(new Map(listed.map(({ id, at, cost }) => [id, { at, cost }]))).toEqual(leases)
        expect(listed.map((entry) => entry.at)).toEqual(
          [...leases.values()].map((lease) => lease.at).sort((a, b) => a - b),
        )
      })
      await fc.assert(held, { numRuns: 30 })
    })

    test('retryAfterMs and resetAfterMs are exact, where nobody releases and nobody renews', async () => {
      const exact = fc.asyncProperty(quota, steps, async (options, all) => {
        const limiter = await open(options)
        for (const { after, cost, id } of all) {
          now += after
          const { allowed, retryAfterMs, resetAfterMs } = await limiter.limit('k', { cost, id })
          if (resetAfterMs) {
            const before = await at(now + resetAfterMs - 1, () => limiter.peek('k', { cost: 0 }))
            expect(before.used).toBeGreaterThan(0)
            const then = await at(now + resetAfterMs, () => limiter.peek('k', { cost: 0 }))
            expect(then).toMatchObject({ used: 0, resetAfterMs: 0 })
          }
          if (allowed) continue
          if (retryAfterMs === null) {
            expect(cost).toBeGreaterThan(options.limit)
            continue
          }
          expect((await at(now + retryAfterMs - 1, () => limiter.peek('k', { cost, id }))).allowed).toBe(false)
          expect((await at(now + retryAfterMs, () => limiter.peek('k', { cost, id }))).allowed).toBe(true)
        }
      })
      await fc.assert(exact, { numRuns: 30 })
    })

    test('thousands of leases: listed in pages, released one by one, expired at once', async () => {
      const limiter = await open({ limit: 5000, window: 1000 })
      const ids = Array.from({ length: 2500 }, (_, i) => `i${i}`)
      await Promise.all(ids.map((id, i) => limiter.limit('k', { id, cost: i % 3 === 0 ? 2 : 1 })))
      const listed = await limiter.entries('k')
      expect(listed.map(({ id }) => id).sort()).toEqual([...ids].sort())
      expect(listed.reduce((sum, { cost }) => sum + cost, 0)).toBe(2500 + 834)
      now += 500
      expect(await limiter.renew('k', 'i100')).toBe(true)
      const released = await Promise.all(ids.slice(1000).map((id) => limiter.release('k', id)))
      expect(released.every(Boolean)).toBe(true)
      expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ used: 1000 + 334, resetAfterMs: 1000 })
      expect(await limiter.limit('k', { cost: 5000, id: 'all' })).toMatchObject({ allowed: false, retryAfterMs: 1000 })
      expect(await limiter.limit('k', { cost: 4999, id: 'all' })).toMatchObject({ allowed: false, retryAfterMs: 500 })
      now += 500
      expect(await limiter.limit('k', { cost: 4999, id: 'all' })).toMatchObject({ allowed: true, used: 5000 })
      expect((await limiter.entries('k')).map(({ id }) => id)).toEqual(['i100', 'all'])
    })
  })
}
