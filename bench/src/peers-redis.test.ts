import { setTimeout as sleep } from 'node:timers/promises'
import { findPart, howToInstall, type Service, startRedis } from '@tidegate/conformance/services'
import { Ratelimit } from '@upstash/ratelimit'
import { Redis } from 'ioredis'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Ask } from './engines/engine.ts'
import { fixedWindows } from './engines/fixed-windows.ts'
import { logs } from './engines/logs.ts'
import { upstash } from './engines/upstash.ts'
import { upstashClient } from './engines/upstash-client.ts'

const isMissing = findPart('redis-server') === undefined
/** A whole second. */
const NOW = 1_700_000_000_000

/** What README says of those that count in Redis, seen with the versions that are benchmarked. */
describe.skipIf(isMissing)(`beside the others in Redis ${isMissing ? howToInstall('redis-server') : ''}`, () => {
  let service: Service
  let client: Redis

  beforeAll(async () => {
    service = await startRedis()
    client = new Redis(service.port, '127.0.0.1', { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })
  })
  afterAll(async () => {
    client.disconnect()
    await service.stop()
  })
  beforeEach(async () => {
    await client.flushall()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  async function admitted(ask: Ask, times: number): Promise<number> {
    let count = 0
    for (let i = 0; i < times; i++) if (await ask('k')) count++
    return count
  }

  function tidegate(limit: number, seconds: number, clock?: () => number): Ask {
    const store = redisStore(client, { guarded: false, ...(clock && { clock }) })
    const limiter = createLimiter({ limit, window: `${seconds}s`, name: 'tidegate', store })
    return async (key) => (await limiter.limit(key)).allowed
  }

  const FIXED = [fixedWindows.flexible, fixedWindows.rateLimitRedis, fixedWindows.fastifyPlugin]
  test.each(FIXED)('$name: across the end of its window it admits twice the limit, less one', async ({ open }) => {
    const ours = tidegate(10, 4)
    const theirs = await open(client, { limit: 10, seconds: 4 })
    expect([await ours('k'), await theirs('k')]).toEqual([true, true])
    const [key = ''] = (await client.keys('*')).filter((name) => !name.startsWith('tg:'))
    while ((await client.pttl(key)) > 1800) await sleep(20)
    const late = [await admitted(ours, 9), await admitted(theirs, 9)]
    while ((await client.pttl(key)) > 0) await sleep(5)
    const early = [await admitted(ours, 10), await admitted(theirs, 10)]
    expect({ late, early }).toEqual({ late: [9, 9], early: [1, 10] })
  })

  test('@upstash/ratelimit sliding: 10 a second, and 15 within 501 ms', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW + 999 })
    const ours = tidegate(10, 1, () => Date.now())
    const theirs = await upstash.sliding.open(client, { limit: 10, seconds: 1 })
    expect([await admitted(ours, 20), await admitted(theirs, 20)]).toEqual([10, 10])
    vi.setSystemTime(NOW + 1500)
    expect([await admitted(ours, 20), await admitted(theirs, 20)]).toEqual([0, 5])
  })

  test('@upstash/ratelimit sliding: nothing was admitted for more than a second, and 9 of 10 are refused', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const ours = tidegate(10, 1, () => Date.now())
    const theirs = await upstash.sliding.open(client, { limit: 10, seconds: 1 })
    expect([await admitted(ours, 10), await admitted(theirs, 10)]).toEqual([10, 10])
    vi.setSystemTime(NOW + 1100)
    expect([await admitted(ours, 10), await admitted(theirs, 10)]).toEqual([10, 1])
  })

  test.each([
    ['sliding', Ratelimit.slidingWindow(10, '1 m')],
    ['fixed', Ratelimit.fixedWindow(10, '1 m')],
  ] as const)(
    '@upstash/ratelimit %s: 6 of 10 are used, 5 are refused, and 1 more is refused too',
    async (_, limiter) => {
      vi.useFakeTimers({ toFake: ['Date'], now: NOW })
      const options = { enableTelemetry: false, ephemeralCache: false } as const
      const theirs = new Ratelimit({ redis: upstashClient(client), limiter, ...options })
      const ask = async (rate: number) => (await theirs.limit('k', { rate })).success
      expect([await ask(6), await ask(5), await ask(1)]).toEqual([true, false, false])
      const ours = createLimiter({
        limit: 10,
        window: '1m',
        name: 'tidegate',
        store: redisStore(client, { guarded: false }),
      })
      const costs: boolean[] = []
      for (const cost of [6, 5, 1]) costs.push((await ours.limit('k', { cost })).allowed)
      expect(costs).toEqual([true, false, true])
    },
  )

  test('async-ratelimiter: requests at the same time are counted once', async () => {
    vi.useFakeTimers({ toFake: ['hrtime', 'Date'], now: NOW })
    const ours = tidegate(10, 60, () => Date.now())
    const theirs = await logs.asyncRatelimiter.open(client, { limit: 10, seconds: 60 })
    expect([await admitted(ours, 30), await admitted(theirs, 30)]).toEqual([10, 30])
  })

  test('async-ratelimiter: at different times it is exact, and counts no refusal', async () => {
    vi.useFakeTimers({ toFake: ['hrtime', 'Date'], now: NOW })
    const theirs = await logs.asyncRatelimiter.open(client, { limit: 10, seconds: 60 })
    const oneByOne = async (times: number) => {
      let count = 0
      for (let i = 0; i < times; i++) {
        vi.advanceTimersByTime(1)
        if (await theirs('k')) count++
      }
      return count
    }
    expect([await oneByOne(20), await client.zcard('limit:k')]).toEqual([10, 10])
    vi.advanceTimersByTime(59_900)
    expect(await oneByOne(10)).toBe(0)
    vi.advanceTimersByTime(100)
    expect(await oneByOne(20)).toBe(10)
  })

  test('rolling-rate-limiter: who keeps asking while refused stays refused', async () => {
    const theirs = await logs.rolling.open(client, { limit: 2, seconds: 60 })
    expect(await admitted(theirs, 5)).toBe(2)
    const key = 'rolling:k'
    const [oldest = ''] = await client.zrange(key, 0, '0')
    // It counts the refused ones as well: five, of which one leaves.
    expect(await client.zcard(key)).toBe(5)
    await client.zrem(key, oldest)
    expect(await theirs('k')).toBe(false)
  })
})
