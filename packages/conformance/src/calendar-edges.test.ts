import type { Redis } from 'ioredis'
import { createGate, createLimiter } from 'tidegate'
import { type RedisClient, redisStore } from 'tidegate/redis'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { describeRedis } from './describe-redis.ts'
import { calendarWindow } from './oracle/calendar-window.ts'

const DAY = 86_400_000

/** A client that counts how often it runs a script. */
function counting(client: Redis) {
  const counted = { scripts: 0 }
  const call = (command: string, args: string[]) => {
    if (command.toUpperCase() === 'EVALSHA') counted.scripts++
    return client.call(command, args)
  }
  const { options } = client
  return { counted, client: { call, options, defineCommand: () => undefined } as RedisClient }
}

describeRedis('the windows of a calendar that Redis is sent', (redis) => {
  beforeEach(() => redis.client.flushall())
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Makes our own clock wrong; timers and the server go on as they were. */
  function wrongBy(ms: number): void {
    const now = Date.now() + ms
    vi.useFakeTimers({ toFake: ['Date'], now })
  }

  async function serverTime(): Promise<number> {
    const [seconds, microseconds] = await redis.client.time()
    return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000)
  }

  test.each([
    ['right', 0],
    ['a day slow, whose next window is the right one', -DAY],
    ['months slow', -100 * DAY],
    ['months fast', 100 * DAY],
    ['years fast', 30_000 * DAY],
    ['at the epoch', Number.NEGATIVE_INFINITY],
  ])(
    'a client whose clock is %s: decided by the server, and only the first request is sent twice',
    async (_, wrong) => {
      const { counted, client } = counting(redis.client)
      wrongBy(Math.max(wrong, -Date.now()))
      const store = redisStore(client, { guarded: false })
      const timeZone = 'Asia/Tokyo'
      const limiter = createLimiter({
        name: 'daily',
        algorithm: 'fixed-window',
        limit: 2,
        align: 'day',
        timeZone,
        store,
      })
      const decisions = []
      for (let i = 0; i < 4; i++) decisions.push(await limiter.limit('k'))
      expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false, false])
      const { end } = calendarWindow('day', timeZone, await serverTime())
      for (const { at, allowed, retryAfterMs, resetAfterMs } of decisions) {
        expect(resetAfterMs).toBe(end - at)
        expect(retryAfterMs).toBe(allowed ? 0 : end - at)
      }
      // Keys that nobody has asked about need a window too, and get the right one at once.
      for (let i = 0; i < 20; i++) expect(await limiter.limit(`k${i}`)).toMatchObject({ allowed: true, used: 1 })
      expect(counted.scripts).toBe(4 + 20 + (Math.abs(wrong) > 2 * DAY ? 1 : 0))
    },
  )

  test('a request that is sent twice is charged once, in all of its rules, and its neighbours are served', async () => {
    const { counted, client } = counting(redis.client)
    wrongBy(-100 * DAY)
    const gate = createGate({
      store: redisStore(client, { guarded: false }),
      rules: [
        { name: 'burst', key: ['user'], algorithm: 'fixed-window', limit: 9, window: '1h' },
        { name: 'daily', key: ['user'], match: { plan: 'free' }, algorithm: 'fixed-window', limit: 9, align: 'day' },
        { name: 'site', limit: 100, window: '1h' },
      ],
    })
    const all = [
      { user: 'a', plan: 'paid' },
      { user: 'a', plan: 'free' },
      { user: 'a', plan: 'free' },
      { user: 'b', plan: 'paid' },
    ].map((descriptor) => gate.limit(descriptor))
    const used = (await Promise.all(all)).map(({ rules }) => rules.map(({ rule, used }) => `${rule} ${used}`))
    expect(used[0]).toEqual(['burst 1', 'site 1'])
    expect(used[1]).toEqual(['burst 2', 'daily 1', 'site 3'])
    expect(used[2]).toEqual(['burst 3', 'daily 2', 'site 4'])
    expect(used[3]).toEqual(['burst 1', 'site 2'])
    // One for the first, one for the other three, and one for each that had been sent the wrong windows.
    expect(counted.scripts).toBe(4)
  })

  test('a key that is counted in a window of its own needs none of those that are sent', async () => {
    const options = { name: 'daily', algorithm: 'fixed-window', limit: 5, align: 'day' } as const
    await createLimiter({ ...options, store: redisStore(redis.client, { guarded: false }) }).limit('k')
    const { counted, client } = counting(redis.client)
    wrongBy(100 * DAY)
    expect(await createLimiter({ ...options, store: redisStore(client, { guarded: false }) }).limit('k')).toMatchObject(
      { used: 2 },
    )
    expect(counted.scripts).toBe(1)
  })

  test('a clock of ours that jumps costs nothing: what time it is for the server is known by one that nobody sets', async () => {
    const { counted, client } = counting(redis.client)
    const store = redisStore(client, { guarded: false })
    const limiter = createLimiter({ name: 'hourly', algorithm: 'fixed-window', limit: 5, align: 'hour', store })
    await limiter.limit('a')
    wrongBy(-3 * DAY)
    await limiter.limit('b')
    expect(counted.scripts).toBe(2)
    vi.useRealTimers()
    await limiter.limit('c')
    await limiter.limit('d')
    expect(counted.scripts).toBe(4)
  })

  test('peeks and blocked keys are answered from the right window too', async () => {
    const { client } = counting(redis.client)
    wrongBy(-100 * DAY)
    const store = redisStore(client, { guarded: false })
    const limiter = createLimiter({ name: 'monthly', algorithm: 'fixed-window', limit: 5, align: 'month', store })
    const { at, resetAfterMs } = await limiter.peek('k')
    expect(at + (resetAfterMs as number)).toBe(calendarWindow('month', 'UTC', await serverTime()).end)
    await limiter.block('k', '1h')
    wrongBy(-100 * DAY)
    expect(await limiter.limit('k')).toMatchObject({ allowed: false, reason: 'blocked', used: 0 })
    expect(await limiter.refund('k')).toBe(0)
  })

  test('a reservation, and what it is settled above, are charged in the window of the server, once', async () => {
    const { counted, client } = counting(redis.client)
    const options = { name: 'daily', algorithm: 'fixed-window', limit: 9, align: 'day' } as const
    wrongBy(-100 * DAY)
    const limiter = createLimiter({ ...options, store: redisStore(client, { guarded: false }) })
    expect(await limiter.reserve('k', { cost: 2, id: 'a' })).toMatchObject({ allowed: true, used: 2 })
    expect(counted.scripts).toBe(2)
    // The window is forgotten, so that the excess needs one.
    await limiter.refund('k', { cost: 2 })
    const other = createLimiter({ ...options, store: redisStore(client, { guarded: false }) })
    expect(await other.settle('k', 'a', { cost: 7 })).toEqual({ settled: true, charged: 5, refunded: 0 })
    expect(counted.scripts).toBe(5)
    const { at, resetAfterMs } = await other.peek('k', { cost: 0 })
    expect(at + (resetAfterMs as number)).toBe(calendarWindow('day', 'UTC', await serverTime()).end)
  })

  test('a store with a clock of its own is sent the windows around that, whatever the machine says', async () => {
    const { counted, client } = counting(redis.client)
    let now = Date.parse('2011-12-30T09:59:59.999Z')
    const store = redisStore(client, { guarded: false, clock: () => now })
    const timeZone = 'Pacific/Apia'
    const limiter = createLimiter({ name: 'daily', algorithm: 'fixed-window', limit: 1, align: 'day', timeZone, store })
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, resetAfterMs: 1 })
    now += 1
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, resetAfterMs: DAY })
    now = Date.parse('2150-06-01T00:00Z')
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, at: now })
    expect(counted.scripts).toBe(3)
  })
})

test('a server whose time runs away with every request is given up on', async () => {
  let time = Date.now()
  const call = async () => {
    time += 100 * DAY
    return [time, 'RANGE the windows that were sent do not reach to this time']
  }
  const store = redisStore({ call, options: {}, defineCommand: () => undefined } as RedisClient, { guarded: false })
  const limiter = createLimiter({ name: 'daily', algorithm: 'fixed-window', limit: 5, align: 'day', store })
  await expect(limiter.limit('k')).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
})
