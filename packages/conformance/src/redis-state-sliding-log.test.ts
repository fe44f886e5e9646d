import * as fc from 'fast-check'
import { createGate, createLimiter, type Limiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import type { Clock } from 'tidegate/store'
import { beforeEach, expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'
import { expectAlone, type PutForeign } from './foreign-state.ts'

const TIME = 1_700_000_000_000

describeRedis('a sliding log in Redis', (redis) => {
  beforeEach(() => redis.client.flushall())

  function open(limit: number, window: number | string, clock?: Clock): Limiter {
    const store = redisStore(redis.client, { guarded: false, ...(clock !== undefined && { clock }) })
    return createLimiter({ name: 'log', algorithm: 'sliding-log', limit, window, store })
  }

  test('an auditor reads with plain ZRANGE who was admitted, when and for how much', async () => {
    let now = TIME
    const limiter = open(10, '1h', () => now)
    await limiter.limit('k', { id: 'first' })
    await limiter.limit('k', { id: 'a:b', cost: 3 })
    now += 5
    await limiter.limit('k', { id: 'third' })
    const key = await redis.onlyKey()
    expect(await redis.client.zrange(key, 0, '+inf', 'BYSCORE')).toEqual([
      `${TIME}:0000000000:1:first`,
      `${TIME}:0000000001:3:a:b`,
      `${TIME + 5}:0000000000:1:third`,
    ])
    expect(await redis.client.zrange(key, TIME + 1, '+inf', 'BYSCORE')).toHaveLength(1)
    expect(await redis.client.zscore(key, 'used')).toBe('-6')
  })

  test('a request without an id is listed under one of its own, which the decision tells', async () => {
    const limiter = open(10, '1h')
    const decisions = [await limiter.limit('k'), await limiter.limit('k')]
    expect((await limiter.entries('k')).map(({ id }) => id)).toEqual(decisions.map(({ id }) => id))
    expect(new Set(decisions.map(({ id }) => id)).size).toBe(2)
  })

  test('a refusal, a peek, a cost of 0 and a refund of nothing write nothing', async () => {
    const limiter = open(3, '1h')
    await limiter.limit('k', { cost: 0 })
    await limiter.limit('k', { cost: 4 })
    await limiter.entries('k')
    expect(await limiter.refund('k')).toBe(0)
    expect(await redis.client.dbsize()).toBe(0)
    await limiter.limit('k', { cost: 3, id: 'a' })
    const key = await redis.onlyKey()
    const [stored, expiry] = [await redis.client.dumpBuffer(key), await redis.client.pexpiretime(key)]
    for (const cost of [1, 2, 4, 0]) await limiter.limit('k', { cost })
    await limiter.peek('k')
    await limiter.entries('k')
    expect(await limiter.refund('k', { id: 'b' })).toBe(0)
    expect(await limiter.refund('k', { id: 'a', cost: 0 })).toBe(0)
    expect(await redis.client.dumpBuffer(key)).toEqual(stored)
    expect(await redis.client.pexpiretime(key)).toBe(expiry)
  })

  test('every write leaves an expiry that outlives the window, and heals one that was taken away', async () => {
    const limiter = open(100, '1s')
    for (let i = 0; i < 20; i++) {
      await limiter.limit('k')
      const left = await redis.client.pttl(await redis.onlyKey())
      expect(left).toBeGreaterThan(1000)
      expect(left).toBeLessThanOrEqual(2000)
      if (i % 2 === 0) await redis.client.persist(await redis.onlyKey())
    }
    await limiter.refund('k', { cost: 3 })
    expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(1000)
    await redis.client.flushall()
    await open(100, '1s', () => TIME).limit('k')
    expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(3_590_000)
  })

  test('what has expired is cleared away by the next admission, and the sum with it', async () => {
    let now = TIME
    const limiter = open(1000, 100, () => now)
    for (let i = 0; i < 500; i++) await limiter.limit('k', { cost: 1 + (i % 2) })
    now += 50
    await limiter.limit('k')
    now += 50
    await limiter.limit('k')
    expect(await redis.client.zrange(await redis.onlyKey(), '0', '-1', 'WITHSCORES')).toEqual([
      'used',
      '-3',
      expect.stringMatching(`^${TIME + 50}:`),
      String(TIME + 50),
      expect.stringMatching(`^${TIME + 100}:`),
      String(TIME + 100),
    ])
  })

  test('given back whole, the key is gone', async () => {
    const limiter = open(1000, '1h')
    for (let i = 0; i < 5; i++) await limiter.limit('k', { cost: 2, id: `i${i}` })
    for (let i = 0; i < 5; i++) expect(await limiter.refund('k', { id: `i${i}`, cost: 9 })).toBe(2)
    expect(await redis.client.dbsize()).toBe(0)
  })

  test('tens of thousands of entries, of which all but a few have expired: they are gone through in blocks, and listed in pages', {
    timeout: 60_000,
  }, async () => {
    let now = TIME
    const limiter = open(4_000_000, '1h', () => now)
    const fill = `for i = 1, 20000 do
      redis.call('ZADD', KEYS[1], ARGV[1], ARGV[1] .. ':' .. string.format('%010d', i) .. ':2:same')
    end
    redis.call('ZADD', KEYS[1], -40003, 'used')`
    await limiter.limit('k', { cost: 2 })
    const key = await redis.onlyKey()
    await redis.client.eval(fill, 1, key, String(TIME))
    expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ used: 40_002 })
    expect(await limiter.entries('k')).toHaveLength(20_001)
    now += 1000
    await limiter.limit('k', { cost: 7 })
    now = TIME + 3_600_000
    expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ used: 7 })
    expect(await limiter.limit('k')).toMatchObject({ used: 8 })
    expect(await redis.client.zcard(key)).toBe(3)
  })

  const foreign: [string, PutForeign, string][] = [
    ['a list', (key) => redis.client.rpush(key, 'a'), 'ERR_STATE_WRONG_TYPE'],
    ['a hash', (key) => redis.client.hset(key, 'a', '1'), 'ERR_STATE_WRONG_TYPE'],
    ['a text', (key) => redis.client.set(key, 'hello'), 'ERR_STATE_WRONG_TYPE'],
    [
      'the state of a sliding window',
      (key) => redis.client.set(key, `\x01${'\x00'.repeat(14)}`),
      'ERR_STATE_WRONG_TYPE',
    ],
    ['a sorted set of others', (key) => redis.client.zadd(key, 1, 'a', 2, 'b', 3, 'c'), 'ERR_STATE_UNREADABLE'],
    ['a sum without entries', (key) => redis.client.zadd(key, -3, 'used'), 'ERR_STATE_UNREADABLE'],
    ['entries without a sum', (key) => redis.client.zadd(key, TIME, `${TIME}:0000000000:1:a`), 'ERR_STATE_UNREADABLE'],
    ['a sum of 0', (key) => redis.client.zadd(key, -1, 'used', TIME, `${TIME}:0000000000:1:a`), 'ERR_STATE_UNREADABLE'],
    [
      'a sum without end',
      (key) => redis.client.zadd(key, '-inf', 'used', TIME, `${TIME}:0000000000:1:a`),
      'ERR_STATE_UNREADABLE',
    ],
    [
      'an entry under another time',
      (key) => redis.client.zadd(key, -2, 'used', TIME + 1, `${TIME}:0000000000:1:a`),
      'ERR_STATE_UNREADABLE',
    ],
    ['an entry that is none', (key) => redis.client.zadd(key, -2, 'used', TIME, 'someone'), 'ERR_STATE_UNREADABLE'],
  ]
  test.each(foreign)(
    '%s in the place of a state: an error for that request alone, and it stays as it is',
    async (_, put, code) => {
      const gate = createGate({
        store: redisStore(redis.client, { guarded: false, clock: () => TIME }),
        rules: [
          { name: 'user', key: ['user'], algorithm: 'sliding-log', limit: 5, window: '1h' },
          { name: 'site', limit: 100, window: '1h' },
        ],
      })
      await expectAlone(redis.client, gate, put, code, (descriptor) => [
        gate.entries(descriptor, { rule: 'user' }),
        gate.refund(descriptor),
      ])
    },
  )

  // The kind of fault: one key's damage that fails the script, and with it requests that have been charged.
  test('entries taken out, put in or exchanged by others: neighbours are served, whatever becomes of the key', async () => {
    let now = TIME
    const store = redisStore(redis.client, { guarded: false, clock: () => now })
    const limiter = createLimiter({ name: 'log', algorithm: 'sliding-log', limit: 60, window: 1000, store })
    const member = fc.oneof(
      fc.constantFrom('used', 'sequence', `${TIME}:0000000000:1:x`, `${TIME}:1:99999999999:`, 'x'),
      fc.string({ maxLength: 9 }),
    )
    const score = fc.oneof(
      fc.integer({ min: -70, max: 3 }),
      fc.integer({ min: TIME - 10, max: TIME + 600 }),
      fc.double({ noNaN: true }),
    )
    const damage = fc.record({
      removed: fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 5 }),
      added: fc.array(fc.tuple(score, member), { maxLength: 4 }),
      later: fc.constantFrom(0, 300, 1000, 1300, 5000, -5000),
      cost: fc.integer({ min: 1, max: 60 }),
    })
    const served = fc.asyncProperty(damage, async ({ removed, added, later, cost }) => {
      await redis.client.flushall()
      now = TIME
      for (let i = 0; i < 25; i++) {
        now += 20
        await limiter.limit('bad', { cost: 1 + (i % 3), id: `i${i}` })
      }
      const key = await redis.onlyKey()
      for (const rank of removed) await redis.client.zremrangebyrank(key, rank, rank)
      for (const [one, name] of added) await redis.client.zadd(key, one, name)
      now += later
      const [first, bad, second] = await Promise.allSettled([
        limiter.limit('n'),
        limiter.limit('bad', { cost }),
        limiter.limit('n'),
      ])
      expect(first).toMatchObject({ status: 'fulfilled', value: { used: 1 } })
      expect(second).toMatchObject({ status: 'fulfilled', value: { used: 2 } })
      const others = await Promise.allSettled([
        bad.status === 'rejected' ? Promise.reject(bad.reason) : bad.value,
        limiter.entries('bad'),
        limiter.refund('bad', { id: 'i7' }),
        limiter.refund('bad', { cost: 5 }),
      ])
      for (const other of others) {
        if (other.status === 'rejected') expect(other.reason.code).toMatch(/^ERR_STATE_UNREADABLE$/)
      }
    })
    await fc.assert(served, { numRuns: 400 })
  })
})
