import * as fc from 'fast-check'
import { createGate, createLimiter, type Limiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import type { Clock } from 'tidegate/store'
import { beforeEach, expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'
import { expectAlone, type PutForeign } from './foreign-state.ts'

const TIME = 1_700_000_000_000
const NO_LEASES = -(2 ** 33)

describeRedis('leases in Redis', (redis) => {
  beforeEach(() => redis.client.flushall())

  function open(limit: number, window: number | string, clock?: Clock): Limiter {
    const store = redisStore(redis.client, { guarded: false, ...(clock !== undefined && { clock }) })
    return createLimiter({ name: 'held', algorithm: 'concurrency', limit, window, store })
  }

  test('a lease is a member with its expiry; costs and the sum stand before them', async () => {
    let now = TIME
    const limiter = open(10, 1000, () => now)
    await limiter.limit('k', { id: 'a:b', cost: 3 })
    now += 5
    await limiter.limit('k', { id: 'c' })
    const members = ['+', String(NO_LEASES - 4), '#a:b', '-3', '=a:b', String(TIME + 1000), '=c', String(TIME + 1005)]
    expect(await redis.client.zrange(await redis.onlyKey(), '0', '-1', 'WITHSCORES')).toEqual(members)
    expect(await redis.client.zrange(await redis.onlyKey(), String(now), '+inf', 'BYSCORE')).toEqual(['=a:b', '=c'])
  })

  test('a server without memory lets leases be released', async () => {
    const limiter = open(10, '1h')
    await limiter.limit('k', { id: 'a', cost: 3 })
    await limiter.limit('k', { id: 'b' })
    await redis.client.config('SET', 'maxmemory', '1')
    try {
      expect([await limiter.release('k', 'a'), await limiter.release('k', 'b')]).toEqual([true, true])
    } finally {
      await redis.client.config('SET', 'maxmemory', '0')
    }
    expect(await redis.client.dbsize()).toBe(0)
  })

  test('a refusal, a peek, a cost of 0, a release and a renewal of nothing write nothing', async () => {
    const limiter = open(3, '1h')
    await limiter.limit('k', { cost: 0 })
    await limiter.limit('k', { cost: 4 })
    expect([await limiter.release('k', 'a'), await limiter.renew('k', 'a'), await limiter.entries('k')]).toEqual([
      false,
      false,
      [],
    ])
    expect(await redis.client.dbsize()).toBe(0)
    await limiter.limit('k', { cost: 3, id: 'a' })
    const key = await redis.onlyKey()
    const [stored, expiry] = [await redis.client.dumpBuffer(key), await redis.client.pexpiretime(key)]
    for (const cost of [1, 2, 4, 0]) await limiter.limit('k', { cost })
    await limiter.peek('k', { id: 'a' })
    await limiter.entries('k')
    expect([await limiter.release('k', 'b'), await limiter.renew('k', 'b')]).toEqual([false, false])
    expect(await limiter.refund('k', { id: 'a', cost: 0 })).toBe(0)
    expect(await redis.client.dumpBuffer(key)).toEqual(stored)
    expect(await redis.client.pexpiretime(key)).toBe(expiry)
  })

  test('every write leaves an expiry that outlives the newest lease, and heals one that was taken away', async () => {
    const limiter = open(100, '1s')
    for (let i = 0; i < 10; i++) {
      if (i % 2 === 0) await limiter.limit('k', { id: `i${i}` })
      else expect(await limiter.renew('k', `i${i - 1}`)).toBe(true)
      const left = await redis.client.pttl(await redis.onlyKey())
      expect(left).toBeGreaterThan(1000)
      expect(left).toBeLessThanOrEqual(2000)
      await redis.client.persist(await redis.onlyKey())
    }
    await redis.client.flushall()
    await open(100, '1s', () => TIME).limit('k')
    expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(3_590_000)
  })

  test('leases that have expired are cleared away with their costs by the next one; released whole, the key is gone', async () => {
    let now = TIME
    const limiter = open(2000, 100, () => now)
    for (let i = 0; i < 700; i++) await limiter.limit('k', { id: `i${i}`, cost: 1 + (i % 2) })
    now += 100
    await limiter.limit('k', { id: 'i1' })
    const members = ['+', String(NO_LEASES - 1), '=i1', String(now + 100)]
    expect(await redis.client.zrange(await redis.onlyKey(), '0', '-1', 'WITHSCORES')).toEqual(members)
    expect(await limiter.release('k', 'i1')).toBe(true)
    expect(await redis.client.dbsize()).toBe(0)
  })

  // The kind of fault: a lease that a block hides, and a block that a write to what it hides brings an expiry.
  test('while a key is blocked its leases can be renewed, released and listed; a block for ever stays for ever', async () => {
    const limiter = open(3, '1h')
    await limiter.limit('k', { id: 'a' })
    await limiter.limit('k', { id: 'b' })
    await limiter.block('k', 'forever')
    const key = (await redis.client.keys('*')).find((name) => !name.endsWith(':held')) as string
    expect(await redis.client.pttl(key)).toBe(-1)
    expect(await limiter.renew('k', 'a')).toBe(true)
    expect(await limiter.release('k', 'b')).toBe(true)
    expect(await redis.client.pttl(key)).toBe(-1)
    expect(await limiter.entries('k')).toMatchObject([{ id: 'a' }])
    expect(await limiter.limit('k', { id: 'a' })).toMatchObject({ allowed: false, reason: 'blocked' })
    expect(await limiter.unblock('k')).toBe(true)
    expect(await limiter.limit('k', { id: 'a' })).toMatchObject({ allowed: true, used: 1 })
  })

  // apisix #12823: the leases of a node that crashed are never given back.
  test('the lease of a client that is gone comes back when its life is over', async () => {
    const client = redis.client.duplicate()
    const store = redisStore(client, { guarded: false })
    const options = { name: 'held', algorithm: 'concurrency', limit: 1, window: '200ms' } as const
    expect((await createLimiter({ ...options, store }).limit('k')).allowed).toBe(true)
    client.disconnect()
    const limiter = open(1, '200ms')
    const { allowed, retryAfterMs } = await limiter.limit('k')
    expect(allowed).toBe(false)
    await new Promise((resolve) => setTimeout(resolve, (retryAfterMs as number) + 5))
    expect((await limiter.limit('k')).allowed).toBe(true)
  })

  const foreign: [string, PutForeign, string][] = [
    ['a list', (key) => redis.client.rpush(key, 'a'), 'ERR_STATE_WRONG_TYPE'],
    ['a text', (key) => redis.client.set(key, 'hello'), 'ERR_STATE_WRONG_TYPE'],
    ['a sorted set of others', (key) => redis.client.zadd(key, 1, 'a', 2, 'b'), 'ERR_STATE_UNREADABLE'],
    [
      'a sliding log',
      (key) => redis.client.zadd(key, -2, 'used', TIME, `${TIME}:0000000000:1:a`),
      'ERR_STATE_UNREADABLE',
    ],
    ['a sum without leases', (key) => redis.client.zadd(key, NO_LEASES - 1, '+'), 'ERR_STATE_UNREADABLE'],
    ['leases without a sum', (key) => redis.client.zadd(key, TIME, '=a'), 'ERR_STATE_UNREADABLE'],
    ['a sum of 0', (key) => redis.client.zadd(key, NO_LEASES, '+', TIME, '=a'), 'ERR_STATE_UNREADABLE'],
    ['a sum without end', (key) => redis.client.zadd(key, '-inf', '+', TIME, '=a'), 'ERR_STATE_UNREADABLE'],
    ['a lease without end', (key) => redis.client.zadd(key, NO_LEASES - 1, '+', '+inf', '=a'), 'ERR_STATE_UNREADABLE'],
  ]
  test.each(foreign)(
    '%s in the place of leases: an error for that request alone, and it stays as it is',
    async (_, put, code) => {
      const gate = createGate({
        store: redisStore(redis.client, { guarded: false, clock: () => TIME }),
        rules: [
          { name: 'user', key: ['user'], algorithm: 'concurrency', limit: 5, window: '1h' },
          { name: 'site', limit: 100, window: '1h' },
        ],
      })
      await expectAlone(redis.client, gate, put, code, (descriptor) => [
        gate.entries(descriptor, { rule: 'user' }),
        gate.renew(descriptor, 'a'),
        gate.release(descriptor, 'a'),
      ])
    },
  )

  // The kind of fault: one key's damage that fails the script, and with it requests that have been charged.
  test('members taken out, put in or moved by others: neighbours are served, whatever becomes of the key', async () => {
    let now = TIME
    const limiter = open(60, 1000, () => now)
    const member = fc.oneof(fc.constantFrom('+', '#i1', '=i1', '=i20', 'x', '#', '='), fc.string({ maxLength: 9 }))
    const score = fc.oneof(
      fc.integer({ min: -9, max: 3 }),
      fc.integer({ min: NO_LEASES - 99, max: NO_LEASES + 9 }),
      fc.integer({ min: TIME - 10, max: TIME + 1600 }),
      fc.double({ noNaN: true }),
    )
    const damage = fc.record({
      removed: fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 5 }),
      added: fc.array(fc.tuple(score, member), { maxLength: 4 }),
      later: fc.constantFrom(0, 300, 1000, 1300, 5000, -5000),
      cost: fc.integer({ min: 1, max: 60 }),
      id: fc.constantFrom('i1', 'i20', 'new'),
    })
    const served = fc.asyncProperty(damage, async ({ removed, added, later, cost, id }) => {
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
        limiter.limit('n', { id: 'a' }),
        limiter.limit('bad', { cost, id }),
        limiter.limit('n', { id: 'b' }),
      ])
      expect(first).toMatchObject({ status: 'fulfilled', value: { used: 1 } })
      expect(second).toMatchObject({ status: 'fulfilled', value: { used: 2 } })
      const others = await Promise.allSettled([
        bad.status === 'rejected' ? Promise.reject(bad.reason) : bad.value,
        limiter.entries('bad'),
        limiter.renew('bad', 'i9'),
        limiter.release('bad', 'i7'),
      ])
      for (const other of others) {
        if (other.status === 'rejected') expect(other.reason.code).toBe('ERR_STATE_UNREADABLE')
      }
    })
    await fc.assert(served, { numRuns: 400 })
  })
})
