import * as fc from 'fast-check'
import { createLimiter, type Limiter, type LimitOptions } from 'tidegate'
import type { CalendarUnit } from 'tidegate/store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CALENDAR_ZONES, calendarTime } from './calendar-times.ts'
import { calendarWindow } from './oracle/calendar-window.ts'
import { type StoreUnderTest, storeKinds } from './stores.ts'

const limit = fc.integer({ min: 1, max: 40 })
const uniform = fc.record({
  limit,
  window: fc.integer({ min: 1, max: 300 }),
  align: fc.constantFrom('epoch' as const, 'first-hit' as const),
})
const calendar = fc.record({
  limit,
  align: fc.constantFrom<CalendarUnit[]>('minute', 'hour', 'day', 'week', 'month', 'year'),
  timeZone: fc.constantFrom(...CALENDAR_ZONES),
})
const quota: fc.Arbitrary<LimitOptions> = fc.oneof(uniform, calendar)

/** Now and then the clock steps back: within a window, or out of it. */
const after = fc.oneof(
  { weight: 16, arbitrary: fc.integer({ min: 0, max: 12 }) },
  { weight: 2, arbitrary: fc.integer({ min: -200, max: 400 }) },
  { weight: 1, arbitrary: fc.integer({ min: -90_000_000, max: 90_000_000 }) },
)
const requests = fc.array(fc.record({ after, cost: fc.integer({ min: 1, max: 50 }) }), { minLength: 1, maxLength: 40 })

for (const kind of storeKinds) {
  describe.skipIf(kind.skipped !== undefined)(
    `properties of the fixed window: ${kind.name} ${kind.skipped ?? ''}`,
    () => {
      let under: StoreUnderTest
      let now = 1000
      beforeAll(async () => {
        under = await kind.start()
      })
      afterAll(() => under.close())

      /** Every request in turn, on a clock that the requests move. */
      async function each(
        take: (limiter: Limiter, cost: number, options: LimitOptions) => Promise<void>,
        numRuns: number,
      ): Promise<void> {
        const holds = fc.asyncProperty(quota, calendarTime, requests, async (options, start, all) => {
          now = start
          const store = await under.open(() => now)
          const limiter = createLimiter({ name: 'property', algorithm: 'fixed-window', ...options, store })
          for (const { after, cost } of all) {
            now = Math.max(0, now + after)
            await take(limiter, cost, options)
          }
        })
        await fc.assert(holds, { numRuns })
      }

      test('retryAfterMs is exact: admitted at now + d, refused at now + d - 1, null only where never', async () => {
        await each(async (limiter, cost, { limit }) => {
          const { allowed, retryAfterMs } = await limiter.limit('k', { cost })
          expect(retryAfterMs === null).toBe(cost > limit)
          if (allowed || retryAfterMs === null) return
          const asked = now
          now = asked + retryAfterMs - 1
          expect(await limiter.peek('k', { cost })).toMatchObject({ allowed: false, retryAfterMs: 1 })
          now = asked + retryAfterMs
          expect(await limiter.peek('k', { cost })).toMatchObject({ allowed: true, used: cost })
          now = asked
        }, 80)
      })

      test('resetAfterMs is exact: untouched at now + d, not at now + d - 1', async () => {
        await each(async (limiter, cost) => {
          const resetAfterMs = (await limiter.limit('k', { cost })).resetAfterMs as number
          if (resetAfterMs === 0) return
          const asked = now
          now = asked + resetAfterMs - 1
          expect((await limiter.peek('k', { cost: 0 })).used).toBeGreaterThan(0)
          now = asked + resetAfterMs
          expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ used: 0, resetAfterMs: 0 })
          now = asked
        }, 60)
      })

      test('peek answers what limit answers next, field by field', async () => {
        await each(async (limiter, cost) => {
          const peeked = await limiter.peek('k', { cost })
          expect(JSON.stringify(peeked)).toBe(JSON.stringify(await limiter.limit('k', { cost })))
        }, 40)
      })

      test('in no window of the calendar more than the limit is admitted, though the clock steps back in it', async () => {
        const bounded = fc.asyncProperty(calendar, calendarTime, requests, async (options, start, all) => {
          now = start
          const store = await under.open(() => now)
          const limiter = createLimiter({ name: 'property', algorithm: 'fixed-window', ...options, store })
          const admitted = new Map<number, number>()
          let newest = 0
          for (const { after, cost } of all) {
            // Back only within the window: one that is left backwards and entered again has been counted by another clock.
            const window = calendarWindow(options.align, options.timeZone, newest)
            now = Math.max(window.start, now + after)
            const { allowed, at } = await limiter.limit('k', { cost })
            newest = Math.max(newest, at)
            const { start } = calendarWindow(options.align, options.timeZone, at)
            if (allowed) admitted.set(start, (admitted.get(start) ?? 0) + cost)
          }
          for (const total of admitted.values()) expect(total).toBeLessThanOrEqual(options.limit)
        })
        await fc.assert(bounded, { numRuns: 30 })
      })
    },
  )
}
