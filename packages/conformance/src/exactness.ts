import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Limiter } from 'tidegate'

/** A limiter whose store reads the time from here. */
export interface Timed {
  readonly limiter: Limiter
  now: number
}

export interface TimedRequest {
  readonly after: number
  readonly cost: number
}

/** A request some ms after the one before it. */
export const timedRequest: fc.Arbitrary<TimedRequest> = fc.record({
  after: fc.integer({ min: 0, max: 12 }),
  cost: fc.integer({ min: 1, max: 9 }),
})
export const timedRequests = fc.array(timedRequest, { minLength: 1, maxLength: 60 })

/** A refused request is admitted at now + retryAfterMs and refused at now + retryAfterMs - 1; null means a cost above the limit. */
export async function retryIsExact(timed: Timed, requests: readonly TimedRequest[]): Promise<void> {
  const { limiter } = timed
  for (const { after, cost } of requests) {
    timed.now += after
    const { allowed, limit, retryAfterMs } = await limiter.limit('k', { cost })
    if (allowed) continue
    if (retryAfterMs === null) {
      assert.ok(cost > limit)
      continue
    }
    const asked = timed.now
    timed.now = asked + retryAfterMs - 1
    assert.equal((await limiter.peek('k', { cost })).allowed, false)
    timed.now = asked + retryAfterMs
    assert.equal((await limiter.peek('k', { cost })).allowed, true)
    timed.now = asked
  }
}

/** The key is as if untouched at now + resetAfterMs, and not at now + resetAfterMs - 1. */
export async function resetIsExact(timed: Timed, requests: readonly TimedRequest[]): Promise<void> {
  const { limiter } = timed
  for (const { after, cost } of requests) {
    timed.now += after
    const { resetAfterMs } = await limiter.limit('k', { cost })
    if (resetAfterMs === null || resetAfterMs === 0) continue
    const asked = timed.now
    timed.now = asked + resetAfterMs - 1
    assert.ok((await limiter.peek('k', { cost: 0 })).used > 0)
    timed.now = asked + resetAfterMs
    const { used, resetAfterMs: rest } = await limiter.peek('k', { cost: 0 })
    assert.deepEqual([used, rest], [0, 0])
    timed.now = asked
  }
}

/** peek answers what limit answers next, field by field. */
export async function peekIsLimit(timed: Timed, requests: readonly TimedRequest[]): Promise<void> {
  for (const { after, cost } of requests) {
    timed.now += after
    const peeked = await timed.limiter.peek('k', { cost })
    assert.deepEqual(peeked, await timed.limiter.limit('k', { cost }))
  }
}
