import fastifyRateLimit from '@fastify/rate-limit'
import { ThrottlerStorageService } from '@nestjs/throttler'
import { MemoryStore } from 'express-rate-limit'
import { type FastifyRequest, fastify } from 'fastify'
import { RateLimiter } from 'limiter'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { InMemoryRateLimiter } from 'rolling-rate-limiter'
import { createGate, createLimiter, memoryStore } from 'tidegate'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

/** What the README says of the others, seen with the versions that are benchmarked. */
describe('beside the others', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_700_000_000_000 })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Asks 10 times late in a second and 10 times early in the next, after one request that opens the first. */
  async function acrossAnEdge(ask: () => Promise<boolean>): Promise<number> {
    await ask()
    let admitted = 0
    for (const [until, times] of [
      [950, 10],
      [100, 10],
    ] as const) {
      vi.advanceTimersByTime(until)
      for (let i = 0; i < times; i++) if (await ask()) admitted++
    }
    return admitted
  }

  async function fastifyLimiter(max: number, timeWindow: number): Promise<(key: string) => Promise<boolean>> {
    const app = fastify()
    await app.register(fastifyRateLimit, { global: false, max, timeWindow, keyGenerator: ({ id }) => id })
    const check = app.createRateLimit()
    return async (id) => {
      const decision = await check({ id, routeOptions: {} } as FastifyRequest)
      return decision.isAllowed || !decision.isExceeded
    }
  }

  async function consume(limiter: RateLimiterMemory, points = 1): Promise<boolean> {
    return limiter.consume('k', points).then(
      () => true,
      () => false,
    )
  }

  test('at most 10 a second: in the 150 ms across the edge of a second', async () => {
    const flexible = new RateLimiterMemory({ points: 10, duration: 1 })
    expect(await acrossAnEdge(() => consume(flexible))).toBe(19)
    const rolling = new InMemoryRateLimiter({ interval: 1000, maxInInterval: 10 })
    // One less than the limit: the request that it refuses late in the second counts as well.
    expect(await acrossAnEdge(async () => !(await rolling.limit('k')))).toBe(9)
    const store = new MemoryStore()
    store.init({ windowMs: 1000 } as Parameters<typeof store.init>[0])
    expect(await acrossAnEdge(async () => (await store.increment('k')).totalHits <= 10)).toBe(19)
    const check = await fastifyLimiter(10, 1000)
    expect(await acrossAnEdge(() => check('k'))).toBe(19)
    const limiter = new RateLimiter({ tokensPerInterval: 10, interval: 1000 })
    expect(await acrossAnEdge(async () => limiter.tryRemoveTokens(1))).toBe(11)
    const throttler = new ThrottlerStorageService()
    expect(await acrossAnEdge(async () => !(await throttler.increment('k', 1000, 10, 0, 'default')).isBlocked)).toBe(10)
    const tidegate = createLimiter({ limit: 10, window: '1s' })
    expect(await acrossAnEdge(async () => (await tidegate.limit('k')).allowed)).toBe(10)
  })

  test('a flood of other keys: is one that is over its limit forgotten?', async () => {
    const check = await fastifyLimiter(1, 3_600_000)
    const tidegate = createLimiter({ limit: 1, window: '1h' })
    const ours = async (key: string) => (await tidegate.limit(key)).allowed
    for (const ask of [check, ours]) expect([await ask('k'), await ask('k')]).toEqual([true, false])
    for (let i = 0; i < 5000; i++) for (const ask of [check, ours]) await ask(`other-${i}`)
    expect([await check('k'), await ours('k')]).toEqual([true, false])
  })

  test('6 of 10 are used, 5 are refused: is 1 more admitted?', async () => {
    const flexible = new RateLimiterMemory({ points: 10, duration: 60 })
    expect([await consume(flexible, 6), await consume(flexible, 5), await consume(flexible)]).toEqual([
      true,
      false,
      false,
    ])
    const tidegate = createLimiter({ limit: 10, window: '1m' })
    const costs = [6, 5, 1].map((cost) => tidegate.limitSync('k', { cost }).allowed)
    expect(costs).toEqual([true, false, true])
  })

  test('asking again and again while refused: does it end?', async () => {
    const rolling = new InMemoryRateLimiter({ interval: 1000, maxInInterval: 2 })
    const tidegate = createLimiter({ limit: 2, window: '1s' })
    const answers = { rolling: [] as boolean[], tidegate: [] as boolean[] }
    for (let i = 0; i < 30; i++) {
      answers.rolling.push(!(await rolling.limit('k')))
      answers.tidegate.push(tidegate.limitSync('k').allowed)
      vi.advanceTimersByTime(100)
    }
    expect(answers.rolling.filter(Boolean)).toHaveLength(2)
    expect(answers.tidegate.filter(Boolean)).toHaveLength(6)
  })

  test('a user over his own limit: does he spend what all share?', async () => {
    const [user, site] = [
      new RateLimiterMemory({ points: 1, duration: 60 }),
      new RateLimiterMemory({ points: 5, duration: 60 }),
    ]
    for (let i = 0; i < 9; i++) await Promise.all([consume(site), consume(user)])
    expect(await consume(site)).toBe(false)
    const gate = createGate({
      store: memoryStore(),
      rules: [
        { name: 'user', key: ['user'], limit: 1, window: '1m' },
        { name: 'site', limit: 5, window: '1m' },
      ],
    })
    for (let i = 0; i < 9; i++) gate.limitSync({ user: 'a' })
    expect(gate.limitSync({ user: 'b' })).toMatchObject({ allowed: true, rules: [{ used: 1 }, { used: 2 }] })
  })
})
