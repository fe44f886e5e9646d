import { createGate, createLimiter, type Limiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import type { Clock } from 'tidegate/store'
import { beforeEach, expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'
import { expectAlone, type PutForeign } from './foreign-state.ts'

const START = 1_700_000_000_000

describeRedis('token buckets in Redis', (redis) => {
  beforeEach(() => redis.client.flushall())

  function open(limit: number, window: number | string, clock?: Clock): Limiter {
    const store = redisStore(redis.client, { guarded: false, ...(clock !== undefined && { clock }) })
    return createLimiter({ name: 'state', algorithm: 'token-bucket', limit, window, store })
  }

  test('a state is 17 bytes: 5, the newest admission, whole tokens missing then and the remainder in window-ths', async () => {
    let now = START
    const limiter = open(3, 1000, () => now)
    await limiter.limit('k', { cost: 3 })
    now += 100
    await limiter.peek('k')
    now += 400
    await limiter.limit('k')
    const state = (await redis.client.getBuffer(await redis.onlyKey())) as Buffer
    expect(state).toHaveLength(17)
    expect(state[0]).toBe(5)
    expect(state.readUIntLE(1, 6)).toBe(now)
    // 3, less the 1.5 that have come, and 1.
    expect(state.readUInt32LE(7)).toBe(2)
    expect(state.readUIntLE(11, 6)).toBe(500)
  })

  test('a refusal, a peek, a cost of 0 and a refund that gives nothing back write nothing', async () => {
    let now = START
    const limiter = open(3, '1h', () => now)
    await limiter.peek('k')
    await limiter.limit('k', { cost: 0 })
    await limiter.limit('k', { cost: 4 })
    expect(await limiter.refund('k')).toBe(0)
    expect(await redis.client.dbsize()).toBe(0)
    const decision = await limiter.limit('k', { cost: 3 })
    const key = await redis.onlyKey()
    const [stored, expiry] = [await redis.client.getBuffer(key), await redis.client.pexpiretime(key)]
    now += 60_000
    for (const cost of [1, 2, 4, 0]) await limiter.limit('k', { cost })
    await limiter.peek('k')
    expect(await limiter.refund('k', { cost: 0 })).toBe(0)
    now += 1_140_000
    expect(await limiter.refund('k', { cost: 1, decision })).toBe(0)
    expect(await redis.client.getBuffer(key)).toEqual(stored)
    expect(await redis.client.pexpiretime(key)).toBe(expiry)
  })

  test('what is given back whole leaves no key', async () => {
    const limiter = open(3, '1h')
    const decision = await limiter.limit('k', { cost: 2 })
    expect(await limiter.refund('k', { cost: 3 })).toBe(2)
    expect(await redis.client.dbsize()).toBe(0)
    expect(await limiter.refund('k', { cost: 2, decision })).toBe(0)
    expect(await redis.client.dbsize()).toBe(0)
  })

  test('every write leaves an expiry at which the bucket is full, and not much later', async () => {
    const limiter = open(10, '10s')
    for (let used = 1; used <= 5; used++) {
      await limiter.limit('k')
      expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(used * 1000)
      expect(await redis.client.pttl(await redis.onlyKey())).toBeLessThanOrEqual(used * 1000 + 1000)
    }
    await limiter.refund('k', { cost: 2 })
    expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(3000)
    await redis.client.persist(await redis.onlyKey())
    await limiter.limit('k')
    expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(0)
  })

  test('a bucket that is full within a ms is stored all the same', async () => {
    // spring-cloud-gateway: a ttl of floor(2 * capacity / rate) = 0 stores nothing, and nothing is limited.
    const limiter = open(2 ** 32 - 1, 1)
    await limiter.limit('k')
    expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(0)
  })

  test('with a clock of the caller every write leaves an hour at least', async () => {
    let now = START
    const limiter = open(10, 100, () => now)
    for (let i = 0; i < 10; i++) {
      await limiter.limit('k')
      expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(3_590_000)
      await limiter.refund('k')
      now += 20
      await limiter.limit('k', { cost: 2 })
      await limiter.refund('k')
      expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(3_590_000)
      await limiter.reset('k')
    }
  })

  test('a bucket that has refilled reads as absent, whatever its expiry', async () => {
    let now = START
    const limiter = open(3, 1000, () => now)
    await limiter.limit('k', { cost: 3 })
    now += 1000
    expect(await redis.client.exists(await redis.onlyKey())).toBe(1)
    expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ used: 0, resetAfterMs: 0 })
    expect(await limiter.limit('k', { cost: 3 })).toMatchObject({ allowed: true, used: 3 })
  })

  const readable = `\x05${'\x01'.repeat(6)}${'\x00'.repeat(10)}`
  const foreign: [string, PutForeign, string][] = [
    ['a list', (key) => redis.client.rpush(key, 'a'), 'ERR_STATE_WRONG_TYPE'],
    ['a hash', (key) => redis.client.hset(key, 'a', '1'), 'ERR_STATE_WRONG_TYPE'],
    ['a sorted set', (key) => redis.client.zadd(key, 1, 'a'), 'ERR_STATE_WRONG_TYPE'],
    ['a number', (key) => redis.client.set(key, '7'), 'ERR_STATE_UNREADABLE'],
    ['a long text', (key) => redis.client.set(key, 'hello '.repeat(100)), 'ERR_STATE_UNREADABLE'],
    ['another algorithm', (key) => redis.client.set(key, `\x07${readable.slice(1)}`), 'ERR_STATE_UNREADABLE'],
    ['a state cut short', (key) => redis.client.set(key, readable.slice(0, -1)), 'ERR_STATE_UNREADABLE'],
    ['a state with a byte too many', (key) => redis.client.set(key, `${readable}\x00`), 'ERR_STATE_UNREADABLE'],
    [
      'a remainder of more than a token',
      (key) => redis.client.set(key, Buffer.from(`05${'00'.repeat(10)}ffffffffffff`, 'hex')),
      'ERR_STATE_UNREADABLE',
    ],
  ]
  test.each(foreign)(
    '%s in the place of a state: an error for that request alone, and it stays',
    async (_, put, code) => {
      const gate = createGate({
        store: redisStore(redis.client, { guarded: false }),
        rules: [
          { name: 'user', key: ['user'], algorithm: 'token-bucket', limit: 5, window: '1h' },
          { name: 'site', algorithm: 'token-bucket', limit: 100, window: '1h' },
        ],
      })
      await expectAlone(redis.client, gate, put, code, (descriptor) => [gate.refund(descriptor)])
    },
  )
})
