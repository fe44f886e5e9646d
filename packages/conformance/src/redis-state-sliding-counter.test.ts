import { createGate, createLimiter, type Limiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import type { Clock } from 'tidegate/store'
import { beforeEach, expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'
import { expectAlone, type PutForeign } from './foreign-state.ts'

const START = 1_700_000_000_000

describeRedis('sliding counters in Redis', (redis) => {
  beforeEach(() => redis.client.flushall())

  function open(limit: number, window: number | string, clock?: Clock): Limiter {
    const store = redisStore(redis.client, { guarded: false, ...(clock !== undefined && { clock }) })
    return createLimiter({ name: 'state', algorithm: 'sliding-counter', limit, window, store })
  }

  test('a state is 15 bytes: 3, the newest admission, and the counts of the window before it and of its own', async () => {
    let now = START
    const limiter = open(9, 1000, () => now)
    await limiter.limit('k', { cost: 5 })
    now += 1400
    await limiter.limit('k', { cost: 2 })
    const state = (await redis.client.getBuffer(await redis.onlyKey())) as Buffer
    expect(state).toHaveLength(15)
    expect(state[0]).toBe(3)
    expect(state.readUIntLE(1, 6)).toBe(now)
    expect(state.readUInt32LE(7)).toBe(5)
    expect(state.readUInt32LE(11)).toBe(2)
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
    for (const cost of [1, 2, 4, 0]) await limiter.limit('k', { cost })
    await limiter.peek('k')
    expect(await limiter.refund('k', { cost: 0 })).toBe(0)
    now += 7_200_000
    expect(await limiter.refund('k')).toBe(0)
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

  test('every write leaves an expiry at the end of the next window, and not much later', async () => {
    const limiter = open(10, '10s')
    for (let used = 1; used <= 5; used++) {
      const { resetAfterMs } = await limiter.limit('k')
      const life = await redis.client.pttl(await redis.onlyKey())
      expect(life).toBeGreaterThan((resetAfterMs as number) - 100)
      expect(life).toBeLessThanOrEqual((resetAfterMs as number) + 1000)
    }
    await limiter.refund('k', { cost: 2 })
    expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(9000)
    await redis.client.persist(await redis.onlyKey())
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

  test('windows that have passed read as absent, whatever its expiry', async () => {
    let now = START
    const limiter = open(3, 1000, () => now)
    await limiter.limit('k', { cost: 3 })
    now += 2000
    expect(await redis.client.exists(await redis.onlyKey())).toBe(1)
    expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ used: 0, resetAfterMs: 0 })
    expect(await limiter.limit('k', { cost: 3 })).toMatchObject({ allowed: true, used: 3 })
  })

  const readable = `\x03${'\x01'.repeat(6)}${'\x00'.repeat(8)}`
  const foreign: [string, PutForeign, string][] = [
    ['a list', (key) => redis.client.rpush(key, 'a'), 'ERR_STATE_WRONG_TYPE'],
    ['a hash', (key) => redis.client.hset(key, 'a', '1'), 'ERR_STATE_WRONG_TYPE'],
    ['a sorted set', (key) => redis.client.zadd(key, 1, 'a'), 'ERR_STATE_WRONG_TYPE'],
    ['a number', (key) => redis.client.set(key, '7'), 'ERR_STATE_UNREADABLE'],
    ['a long text', (key) => redis.client.set(key, 'hello '.repeat(100)), 'ERR_STATE_UNREADABLE'],
    ['another algorithm', (key) => redis.client.set(key, `\x07${readable.slice(1)}`), 'ERR_STATE_UNREADABLE'],
    ['a state cut short', (key) => redis.client.set(key, readable.slice(0, -1)), 'ERR_STATE_UNREADABLE'],
    ['a state with a byte too many', (key) => redis.client.set(key, `${readable}\x00`), 'ERR_STATE_UNREADABLE'],
  ]
  test.each(foreign)(
    '%s in the place of a state: an error for that request alone, and it stays',
    async (_, put, code) => {
      const gate = createGate({
        store: redisStore(redis.client, { guarded: false }),
        rules: [
          { name: 'user', key: ['user'], algorithm: 'sliding-counter', limit: 5, window: '1h' },
          { name: 'site', algorithm: 'sliding-counter', limit: 100, window: '1h' },
        ],
      })
      await expectAlone(redis.client, gate, put, code, (descriptor) => [gate.refund(descriptor)])
    },
  )
})
