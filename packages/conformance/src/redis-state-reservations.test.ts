import { createGate, createLimiter, type LimiterOptions } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { beforeEach, expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'

const TIME = 1_700_000_000_000

describeRedis('reservations in Redis', (redis) => {
  let now = TIME
  beforeEach(async () => {
    now = TIME
    await redis.client.flushall()
  })

  function open(options: Partial<LimiterOptions> = {}) {
    const store = redisStore(redis.client, { guarded: false, clock: () => now })
    return createLimiter({ name: 'reserved', limit: 100, window: '1h', store, ...options })
  }

  async function book(): Promise<string> {
    const keys = await redis.client.keys('*:reserved')
    expect(keys).toHaveLength(1)
    return keys[0] as string
  }

  test('one sorted set beside the key: expiry, cost and time of each; settled or reset, nothing is left', async () => {
    const limiter = open()
    await limiter.reserve('k', { cost: 7, id: 'a:b', expiresIn: 1000 })
    now += 5
    await limiter.reserve('k', { cost: 1, id: 'c' })
    expect(await redis.client.zrange(await book(), '0', '-1', 'WITHSCORES')).toEqual([
      ...['@c', String(-(2 ** 33) - TIME - 5), '@a:b', String(-(2 ** 33) - TIME), '#a:b', '-7', '#c', '-1'],
      ...['=a:b', String(TIME + 1000), '=c', String(TIME + 600_005)],
    ])
    expect((await book()).replace(/:reserved$/, '')).toMatch(/^tg:\{k\}:reserved\.[0-9a-f]{8}$/)
    await limiter.settle('k', 'a:b', { cost: 2 })
    await limiter.settle('k', 'c', { cost: 1 })
    expect(await redis.client.keys('*:reserved')).toEqual([])
    await limiter.reserve('k', { cost: 7, id: 'd' })
    await limiter.reset('k')
    expect(await redis.client.dbsize()).toBe(0)
  })

  // The kind of fault: what dead holders have reserved piles up.
  test('what has expired is cleared away by the next reservations of its key, so many at a time that nobody has to wait', async () => {
    const limiter = open({ limit: 4_000_000 })
    for (let i = 0; i < 700; i++) await limiter.reserve('k', { cost: 1, expiresIn: 100 })
    await limiter.reserve('k', { cost: 1, id: 'long', expiresIn: 1000 })
    expect(await redis.client.zcard(await book())).toBe(3 * 701)
    now += 100
    for (const [i, left] of [701 - 256 + 1, 701 - 512 + 2, 4].entries()) {
      await limiter.reserve('k', { cost: 1, id: `new${i}` })
      expect(await redis.client.zcard(await book())).toBe(3 * left)
    }
    expect(await redis.client.zrange(await book(), '0', '+inf', 'BYSCORE')).toEqual([
      ...['=long', '=new0', '=new1', '=new2'],
    ])
  })

  test('every reservation leaves an expiry that outlives the longest of its key, and heals one that was taken away', async () => {
    const limiter = createLimiter({
      name: 'real',
      limit: 100,
      window: '1s',
      store: redisStore(redis.client, { guarded: false }),
    })
    await limiter.reserve('k', { cost: 1, expiresIn: 60_000 })
    await redis.client.persist(await book())
    await limiter.reserve('k', { cost: 1, expiresIn: 1000 })
    const left = await redis.client.pttl(await book())
    expect(left).toBeGreaterThan(60_000)
    expect(left).toBeLessThanOrEqual(61_000)
    await redis.client.flushall()
    await open().reserve('k', { cost: 1, expiresIn: 1 })
    expect(await redis.client.pttl(await book())).toBeGreaterThan(3_590_000)
  })

  test('a refusal, a second reservation of the same id and settling nothing write nothing', async () => {
    const limiter = open({ limit: 9, algorithm: 'sliding-log' })
    await limiter.reserve('k', { cost: 10 })
    await limiter.settle('k', 'a', { cost: 5 })
    expect(await redis.client.dbsize()).toBe(0)
    await limiter.reserve('k', { cost: 5, id: 'a' })
    const keys = (await redis.client.keys('*')).sort()
    const stored = await Promise.all(keys.map((key) => redis.client.dumpBuffer(key)))
    now += 10
    expect(await limiter.reserve('k', { cost: 5, id: 'a' })).toMatchObject({ allowed: true, used: 5 })
    expect(await limiter.reserve('k', { cost: 5, id: 'b' })).toMatchObject({ allowed: false })
    expect(await limiter.cancel('k', 'b')).toMatchObject({ settled: false })
    expect((await redis.client.keys('*')).sort()).toEqual(keys)
    expect(await Promise.all(keys.map((key) => redis.client.dumpBuffer(key)))).toEqual(stored)
  })

  test('what is not ours is left alone: nothing is charged, and its neighbours are served', async () => {
    const gate = createGate({
      store: redisStore(redis.client, { guarded: false, clock: () => now }),
      rules: [
        { name: 'a', key: ['user'], limit: 10, window: '1h' },
        { name: 'b', key: ['user'], limit: 10, window: '1h' },
      ],
    })
    await gate.reserve({ user: 'u' }, { cost: 1, id: 'x' })
    const [name] = (await redis.client.keys('*:b.*:reserved')) as [string]
    await redis.client.zrem(name, '#x')
    await expect(gate.settle({ user: 'u' }, 'x', { cost: 3 })).rejects.toMatchObject({ code: 'ERR_STATE_UNREADABLE' })
    await redis.client.set(name, 'text')
    await expect(gate.settle({ user: 'u' }, 'x', { cost: 3 })).rejects.toMatchObject({ code: 'ERR_STATE_WRONG_TYPE' })
    await expect(gate.reserve({ user: 'u' }, { cost: 1, id: 'y' })).rejects.toMatchObject({
      code: 'ERR_STATE_WRONG_TYPE',
    })
    expect(await redis.client.get(name)).toBe('text')
    // The rule beside it was settled, and the failed reservation charged neither.
    expect(await gate.peek({ user: 'u' }, { cost: 0 })).toMatchObject({ rules: [{ used: 3 }, { used: 1 }] })
    expect(await gate.reserve({ user: 'v' }, { cost: 1 })).toMatchObject({ allowed: true })
  })

  // The kind of fault: the block ends first, and with it the only way to the count that it had put aside.
  test('what is charged behind a block that has an expiry is still there after it', async () => {
    const limiter = createLimiter({
      name: 'quota',
      algorithm: 'quota',
      limit: 9,
      store: redisStore(redis.client, { guarded: false }),
    })
    await limiter.reserve('k', { cost: 1, id: 'a' })
    await limiter.refund('k')
    await limiter.block('k', 50)
    expect(await limiter.settle('k', 'a', { cost: 6 })).toEqual({ settled: true, charged: 5, refunded: 0 })
    await new Promise((resolve) => setTimeout(resolve, 1200))
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, used: 6 })
  })
})
