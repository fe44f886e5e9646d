import { mkdir, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGate, createLimiter, type Limiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import type { Clock } from 'tidegate/store'
import { beforeEach, expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'
import { expectAlone, type PutForeign } from './foreign-state.ts'

describeRedis('what is stored in Redis', (redis) => {
  beforeEach(() => redis.client.flushall())

  function open(limit: number, window: number | string, clock?: Clock): Limiter {
    const store = redisStore(redis.client, { guarded: false, ...(clock !== undefined && { clock }) })
    return createLimiter({ name: 'state', limit, window, store })
  }

  test('a key has its values in the hash tag, the rule and a fingerprint behind, and begins with a format version', async () => {
    const gate = createGate({
      store: redisStore(redis.client, { guarded: false, prefix: 'shop' }),
      rules: [{ name: 'by-pair', key: ['route', 'user'], limit: 5, window: '1s' }],
    })
    await gate.limit({ route: '/a,b:c', user: 'u1' })
    expect(await redis.onlyKey()).toMatch(/^shop:\{\/a%2Cb%3Ac,u1\}:by-pair\.[0-9a-f]{8}$/)
    expect((await redis.client.getBuffer(await redis.onlyKey()))?.[0]).toBe(3)
  })

  test('hashKeys hides the values; long ones are hashed anyway', async () => {
    const store = redisStore(redis.client, { guarded: false, hashKeys: true })
    await createLimiter({ name: 'hidden', limit: 5, window: '1s', store }).limit('someone@example.com')
    expect(await redis.onlyKey()).toMatch(/^tg:\{#[0-9a-f]{32}\}:hidden\./)
    await redis.client.flushall()
    await open(5, '1s').limit('x'.repeat(4000))
    expect((await redis.onlyKey()).length).toBeLessThan(80)
  })

  test('a refusal, a peek and a cost of 0 write nothing', async () => {
    const limiter = open(3, '1h')
    await limiter.peek('k')
    await limiter.limit('k', { cost: 0 })
    await limiter.limit('k', { cost: 4 })
    expect(await redis.client.dbsize()).toBe(0)
    await limiter.limit('k', { cost: 3 })
    const [stored, ttl] = [
      await redis.client.getBuffer(await redis.onlyKey()),
      await redis.client.pexpiretime(await redis.onlyKey()),
    ]
    for (const cost of [1, 2, 4, 0]) await limiter.limit('k', { cost })
    await limiter.peek('k')
    expect(await redis.client.getBuffer(await redis.onlyKey())).toEqual(stored)
    expect(await redis.client.pexpiretime(await redis.onlyKey())).toBe(ttl)
  })

  test('a log refuses costs whose sum passes 2^32, as a small state does', async () => {
    let now = 1_700_000_000_000
    const limiter = open(4_000_000_000, '1h', () => now++)
    for (let i = 0; i < 30; i++) await limiter.limit('k')
    expect(await limiter.limit('k', { cost: 2_500_000_000 })).toMatchObject({ allowed: true, used: 2_500_000_030 })
    expect(await limiter.limit('k', { cost: 3_000_000_000 })).toMatchObject({ allowed: false, used: 2_500_000_030 })
    // By now the running total has passed 2^32, and is less than what stood before the oldest.
    now += 3_600_000
    for (let i = 0; i < 30; i++) await limiter.limit('k')
    expect(await limiter.limit('k', { cost: 2_500_000_000 })).toMatchObject({ allowed: true, used: 2_500_000_030 })
    expect(await limiter.limit('k', { cost: 3_000_000_000 })).toMatchObject({ allowed: false, used: 2_500_000_030 })
    expect(await limiter.limit('k', { cost: 1_499_999_970 })).toMatchObject({ allowed: true, used: 4_000_000_000 })
  })

  test('every write leaves an expiry that outlives the window', async () => {
    let now = 1_700_000_000_000
    const limiter = open(400, '10m', () => now)
    for (let i = 0; i < 900; i++) {
      now += i % 3
      await limiter.limit('k')
      if (i % 10 === 0) expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(600_000)
    }
    await redis.client.flushall()
    const live = open(60, '1s')
    for (let i = 0; i < 60; i++) {
      await live.limit('k')
      expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(1000)
      expect(await redis.client.pttl(await redis.onlyKey())).toBeLessThanOrEqual(3100)
    }
  })

  test('a key that lost its expiry decides as before and gets it back', async () => {
    const small = open(10, '1h')
    await small.limit('k')
    await redis.client.persist(await redis.onlyKey())
    expect(await small.limit('k')).toMatchObject({ allowed: true, used: 2 })
    expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(0)

    await redis.client.flushall()
    const log = open(1000, '1h')
    await spaced(log, 40)
    const key = await redis.onlyKey()
    expect(await redis.client.strlen(key)).toBeGreaterThan(192)
    await redis.client.persist(key)
    await spaced(log, 40)
    expect(await redis.client.pttl(key)).toBeGreaterThan(0)
  })

  test('stale state reads as absent, whatever its expiry', async () => {
    let now = 1_700_000_000_000
    const limiter = open(3, 1000, () => now)
    await limiter.limit('k', { cost: 3 })
    now += 1000
    expect(await redis.client.exists(await redis.onlyKey())).toBe(1)
    expect(await limiter.limit('k', { cost: 3 })).toMatchObject({ allowed: true, used: 3 })
  })

  const foreign: [string, PutForeign, string][] = [
    ['a list', (key) => redis.client.rpush(key, 'a'), 'ERR_STATE_WRONG_TYPE'],
    ['a hash', (key) => redis.client.hset(key, 'a', '1'), 'ERR_STATE_WRONG_TYPE'],
    ['a sorted set', (key) => redis.client.zadd(key, 1, 'a'), 'ERR_STATE_WRONG_TYPE'],
    ['a number', (key) => redis.client.set(key, '7'), 'ERR_STATE_UNREADABLE'],
    ['a text', (key) => redis.client.set(key, 'hello'), 'ERR_STATE_UNREADABLE'],
    ['a long text', (key) => redis.client.set(key, 'hello '.repeat(100)), 'ERR_STATE_UNREADABLE'],
    ['a state of a later version', (key) => redis.client.set(key, `\x03${'\x00'.repeat(14)}`), 'ERR_STATE_UNREADABLE'],
    ['a state cut short', (key) => redis.client.set(key, '\x01\x00\x00\x00\x00'), 'ERR_STATE_UNREADABLE'],
    [
      'a state with a byte too many',
      (key) => redis.client.set(key, `\x01${'\x00'.repeat(15)}`),
      'ERR_STATE_UNREADABLE',
    ],
    [
      'a log whose trailer is broken',
      (key) => redis.client.set(key, `\x02${'\xff'.repeat(300)}\x02`),
      'ERR_STATE_UNREADABLE',
    ],
  ]
  test.each(foreign)(
    '%s in the place of a state: an error for that request alone, and it stays as it is',
    async (_, put, code) => {
      const gate = createGate({
        store: redisStore(redis.client, { guarded: false }),
        rules: [
          { name: 'user', key: ['user'], limit: 5, window: '1h' },
          { name: 'site', limit: 100, window: '1h' },
        ],
      })
      await expectAlone(redis.client, gate, put, code, (descriptor) => [gate.refund(descriptor)])
    },
  )

  test('a server without memory refuses the request and charges no rule', async () => {
    const gate = createGate({
      store: redisStore(redis.client, { guarded: false }),
      rules: [
        { name: 'user', key: ['user'], limit: 5, window: '1h' },
        { name: 'site', limit: 100, window: '1h' },
      ],
    })
    await gate.limit({ user: 'a' })
    await redis.client.config('SET', 'maxmemory', '1')
    try {
      await expect(gate.limit({ user: 'b' })).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message: /OOM/ })
      await expect(gate.limit({ user: 'b' })).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    } finally {
      await redis.client.config('SET', 'maxmemory', '0')
    }
    expect(await gate.limit({ user: 'a' })).toMatchObject({ rules: [{ used: 2 }, { used: 2 }] })
  })

  // The kind of fault: a write that is refused behind a block, and the script goes on as if it had been done.
  test.each([
    ['has too few replicas', 'min-replicas-to-write', '1'],
    ['cannot save', 'stop-writes-on-bgsave-error', 'yes'],
  ])(
    'a server that %s: what stands behind a block that is over is an error for its request alone',
    async (_, option, value) => {
      let now = 1_700_000_000_000
      const limiter = open(5, '1h', () => now)
      await limiter.limit('k')
      await limiter.limit('full', { cost: 5 })
      await limiter.block('k', 100)
      await limiter.block('empty', 100)
      now += 100
      await refuseWrites(option, value)
      try {
        const [full, ...blocked] = await Promise.allSettled([
          limiter.limit('full'),
          limiter.limit('k'),
          limiter.limit('empty'),
        ])
        expect(full).toMatchObject({ status: 'fulfilled', value: { allowed: false, used: 5 } })
        for (const answer of blocked) expect(answer).toMatchObject({ reason: { code: 'ERR_STORE_UNAVAILABLE' } })
      } finally {
        await redis.client.config('SET', 'min-replicas-to-write', '0')
        await redis.client.config('SET', 'save', '')
      }
      expect(await limiter.limit('k')).toMatchObject({ used: 2 })
      expect(await limiter.limit('empty')).toMatchObject({ used: 1 })
    },
  )

  /** Makes the server refuse every write, for the reason that the option gives it. */
  async function refuseWrites(option: string, value: string): Promise<void> {
    await redis.client.config('SET', option, value)
    if (option !== 'stop-writes-on-bgsave-error') return
    const [, folder] = (await redis.client.config('GET', 'dir')) as string[]
    await redis.client.config('SET', 'save', '3600 1')
    // A folder in the place of the file: the save fails.
    await rm(`${folder}/dump.rdb`, { recursive: true, force: true })
    await mkdir(`${folder}/dump.rdb`)
    await redis.client.bgsave().catch(() => undefined)
    for (let i = 0; i < 100; i++) {
      if (/rdb_last_bgsave_status:err/.test(await redis.client.info('persistence'))) return
      await sleep(20)
    }
    throw new Error('the save did not fail')
  }

  test('a blocked key whose state aside cannot be read is refused all the same, and nothing is lost', async () => {
    const limiter = open(5, '1h')
    await limiter.limit('k')
    const key = await redis.onlyKey()
    await limiter.block('k', 'forever')
    await redis.client.set(`${key}:held`, 'hello')
    expect(await limiter.limit('k')).toMatchObject({ allowed: false, reason: 'blocked' })
    expect(await redis.client.get(`${key}:held`)).toBe('hello')
  })

  test('what stands in the place of penalties is left alone: a refusal begins none', async () => {
    const options = { name: 'state', limit: 1, window: 1000, penalty: { blocks: [5000] } }
    const limiter = createLimiter({ ...options, store: redisStore(redis.client, { guarded: false }) })
    await limiter.limit('k')
    const key = await redis.onlyKey()
    await redis.client.set(`${key}:penalties`, 'hello')
    expect((await limiter.limit('k')).retryAfterMs).toBeLessThanOrEqual(1000)
    expect(await redis.client.get(`${key}:penalties`)).toBe('hello')
    await redis.client.del(`${key}:penalties`)
    expect((await limiter.limit('k')).retryAfterMs).toBe(5000)
  })

  test('with a clock of the caller every write leaves an hour at least, whatever the window', async () => {
    let now = 1_700_000_000_000
    const limiter = open(100, 100, () => now)
    for (let i = 0; i < 60; i++) {
      now += 1
      await limiter.limit('k')
      expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(3_590_000)
    }
  })

  test('the admissions of one millisecond are one entry', async () => {
    const limiter = open(1000, 1000, () => 1_700_000_000_000)
    for (let i = 0; i < 500; i++) await limiter.limit('k')
    expect(await redis.client.strlen(await redis.onlyKey())).toBe(15)
    let now = 1_700_000_000_000
    const log = createLimiter({
      name: 'log',
      limit: 1000,
      window: 1000,
      store: redisStore(redis.client, { guarded: false, clock: () => now }),
    })
    for (let i = 0; i < 30; i++) {
      now += 1
      await log.limit('k')
    }
    const key = (await redis.client.keys('*log*'))[0] as string
    const length = await redis.client.strlen(key)
    for (let i = 0; i < 50; i++) await log.limit('k')
    expect(await redis.client.strlen(key)).toBe(length)
  })

  test('a long log is trimmed as it goes', async () => {
    let now = 1_700_000_000_000
    const limiter = open(2000, 2000, () => now)
    for (let i = 0; i < 10_000; i++) {
      now += 1
      await limiter.limit('k')
    }
    // 2,000 live entries of 10 bytes, and at most about as many dead ones.
    expect(await redis.client.strlen(await redis.onlyKey())).toBeLessThan(2 * 2000 * 10 + 1000)
  })
})

/** Requests far enough apart that each is an entry of its own. */
async function spaced(limiter: Limiter, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await limiter.limit('k')
    await sleep(2)
  }
}
