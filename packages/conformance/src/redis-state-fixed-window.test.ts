import { createGate, createLimiter, type Limiter, type LimitOptions } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import type { Clock } from 'tidegate/store'
import { beforeEach, describe, expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'
import { expectAlone } from './foreign-state.ts'

const HOUR = 3_600_000

describeRedis('what a fixed window stores in Redis', (redis) => {
  beforeEach(() => redis.client.flushall())

  function open(options: LimitOptions, clock?: Clock): Limiter {
    const store = redisStore(redis.client, { guarded: false, ...(clock !== undefined && { clock }) })
    return createLimiter({ name: 'state', algorithm: 'fixed-window', ...options, store })
  }

  const alignments: [name: string, options: Omit<LimitOptions, 'limit'>, start: number, end: number][] = [
    ['the epoch', { window: '1h' }, 7 * HOUR, 8 * HOUR],
    ['the first hit', { window: '1h', align: 'first-hit' }, 7.25 * HOUR, 8.25 * HOUR],
    ['the calendar', { align: 'day', timeZone: 'Europe/Berlin' }, 0, 23 * HOUR],
  ]

  test.each(alignments)('21 bytes, whatever is counted: %s', async (_, options, start, end) => {
    let now = 7.25 * HOUR
    const limiter = open({ limit: 2 ** 32 - 1, ...options }, () => now)
    await limiter.limit('k', { cost: 70_000 })
    now += 500
    await limiter.limit('k', { cost: 7 })
    const state = (await redis.client.getBuffer(await redis.onlyKey())) as Buffer
    expect(state).toHaveLength(21)
    expect(state[0]).toBe(4)
    expect([state.readUIntLE(1, 6), state.readUIntLE(7, 5)]).toEqual([start, end - start])
    expect([state.readUIntLE(12, 5), state.readUInt32LE(17)]).toEqual([now - start, 70_007])
  })

  test.each(alignments)('every write leaves an expiry soon after the end of the window: %s', async (_, options) => {
    const limiter = open({ limit: 5, ...options })
    for (let i = 0; i < 3; i++) {
      const { resetAfterMs } = await limiter.limit('k')
      const life = await redis.client.pttl(await redis.onlyKey())
      expect(life).toBeGreaterThan((resetAfterMs as number) + 500)
      expect(life).toBeLessThanOrEqual((resetAfterMs as number) + 1000)
      await redis.client.persist(await redis.onlyKey())
    }
    expect(await limiter.refund('k')).toBe(1)
    expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(0)
    expect(await limiter.refund('k', { cost: 9 })).toBe(2)
    expect(await redis.client.exists('*')).toBe(0)
    expect(await redis.client.dbsize()).toBe(0)
  })

  test('with a clock of the caller every write leaves an hour at least', async () => {
    const limiter = open({ limit: 100, window: 100 }, () => 1_700_000_000_000)
    await limiter.limit('k', { cost: 2 })
    expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(3_590_000)
    await redis.client.persist(await redis.onlyKey())
    await limiter.refund('k')
    expect(await redis.client.pttl(await redis.onlyKey())).toBeGreaterThan(3_590_000)
  })

  test.each(alignments)('refusals, peeks and refunds of nothing write nothing: %s', async (_, options) => {
    const limiter = open({ limit: 2, ...options })
    await limiter.peek('k')
    await limiter.limit('k', { cost: 3 })
    await limiter.limit('k', { cost: 0 })
    expect(await limiter.refund('k')).toBe(0)
    expect(await redis.client.dbsize()).toBe(0)
    const first = await limiter.limit('k', { cost: 2 })
    const before = await redis.client.dump(await redis.onlyKey())
    await redis.client.persist(await redis.onlyKey())
    for (const cost of [0, 1, 2, 3]) {
      await limiter.limit('k', { cost })
      await limiter.peek('k', { cost })
    }
    const figures = { ...first.rules[0], at: 0 }
    const elsewhere = { ...first, rules: [figures] } as typeof first
    if (options.align === 'first-hit') expect(await limiter.refund('k', { decision: elsewhere })).toBe(0)
    expect(await limiter.refund('k', { cost: 0 })).toBe(0)
    expect(await redis.client.dump(await redis.onlyKey())).toBe(before)
    expect(await redis.client.pttl(await redis.onlyKey())).toBe(-1)
  })

  const foreign: [name: string, put: (key: string) => Promise<unknown>, code: string][] = [
    ['a list', (key) => redis.client.lpush(key, 'a'), 'ERR_STATE_WRONG_TYPE'],
    ['a hash', (key) => redis.client.hset(key, 'a', '1'), 'ERR_STATE_WRONG_TYPE'],
    ['a number', (key) => redis.client.set(key, '7'), 'ERR_STATE_UNREADABLE'],
    ['a state of another algorithm', (key) => redis.client.set(key, `\x07${'\0'.repeat(8)}`), 'ERR_STATE_UNREADABLE'],
    ['a state of a later version', (key) => redis.client.set(key, `\x14${'\0'.repeat(20)}`), 'ERR_STATE_UNREADABLE'],
    ['a window without length', (key) => redis.client.set(key, `\x04${'\0'.repeat(20)}`), 'ERR_STATE_UNREADABLE'],
    [
      'a newest admission behind the window',
      (key) =>
        redis.client.set(
          key,
          Buffer.concat([Buffer.from('\x04abcdef'), Buffer.alloc(5, 1), Buffer.alloc(5, 2), Buffer.alloc(4)]),
        ),
      'ERR_STATE_UNREADABLE',
    ],
    ['a state cut short', (key) => redis.client.set(key, `\x04${'\x01'.repeat(19)}`), 'ERR_STATE_UNREADABLE'],
    [
      'a state with a byte too many',
      (key) => redis.client.set(key, `\x04${'\x01'.repeat(21)}`),
      'ERR_STATE_UNREADABLE',
    ],
  ]
  describe.each(alignments)('windows of %s', (_, options) => {
    test.each(foreign)('%s: an error for that request alone, and it stays as it is', async (_, put, code) => {
      const gate = createGate({
        store: redisStore(redis.client, { guarded: false }),
        rules: [
          { name: 'user', key: ['user'], algorithm: 'fixed-window', limit: 5, ...options },
          { name: 'site', algorithm: 'fixed-window', limit: 100, ...options },
        ],
      })
      await expectAlone(redis.client, gate, put, code, (descriptor) => [gate.refund(descriptor)])
    })
  })
})
