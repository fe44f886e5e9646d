import { createLimiter, memoryStore } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { expressRateLimitStore } from 'tidegate/stores/express-rate-limit'
import { fastifyRateLimitStore } from 'tidegate/stores/fastify-rate-limit'
import { honoRateLimiterStore } from 'tidegate/stores/hono-rate-limiter'
import { throttlerStorage } from 'tidegate/stores/nestjs-throttler'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Client } from '../frameworks/client.ts'
import { findPart, howToInstall } from '../services/parts.ts'
import { administrate, startRedis } from '../services/redis.ts'
import type { Service } from '../services/service.ts'
import { type Served, serveExpress, serveFastify, serveHono, serveNest } from './served.ts'

const SILENT = { error: () => undefined, warn: () => undefined }
const NOW = 1_800_000_000_000
const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
  vi.useRealTimers()
})

function clientOf(served: Served, connections = 1): Client {
  const client = new Client(served.port, connections)
  open.push(served, client)
  return client
}

describe.each([
  ['express-rate-limit', expressRateLimitStore],
  ['hono-rate-limiter', honoRateLimiterStore],
] as const)('the store for %s', (_name, make) => {
  let now = NOW
  beforeEach(() => {
    now = NOW
  })
  const init = { windowMs: 1000, limit: 2 }
  const storeAt = (algorithm: 'sliding-window' | 'fixed-window') => {
    const store = make({ name: 'test', algorithm, store: memoryStore({ clock: () => now }) })
    store.init(init)
    return store
  }

  test('counts every hit, and says when the next one fits', async () => {
    const store = storeAt('sliding-window')
    expect(await store.increment('k')).toEqual({ totalHits: 1, resetTime: new Date(NOW + 1000) })
    now += 400
    expect(await store.increment('k')).toEqual({ totalHits: 2, resetTime: new Date(NOW + 1400) })
    now += 100
    // Both that count have to leave before a further one is the second.
    expect(await store.increment('k')).toEqual({ totalHits: 3, resetTime: new Date(NOW + 1400) })
    now = NOW + 1400
    expect(await store.increment('k')).toEqual({ totalHits: 2, resetTime: new Date(NOW + 2400) })
  })

  test('slides by default: at the edge of a window no more than the limit pass', async () => {
    const store = storeAt('sliding-window')
    for (const at of [900, 950, 1000, 1050]) {
      now = NOW + at
      await store.increment('k')
    }
    expect((await store.get('k'))?.totalHits).toBe(4)
  })

  test('takes hits back, never below none, and none of a window that is over', async () => {
    const store = storeAt('fixed-window')
    await store.decrement('k')
    expect(await store.get('k')).toBeUndefined()
    await store.increment('k')
    await store.increment('k')
    await store.decrement('k')
    expect(await store.get('k')).toEqual({ totalHits: 1, resetTime: new Date(NOW + 1000) })
    now += 1000
    await store.decrement('k')
    expect(await store.increment('k')).toEqual({ totalHits: 1, resetTime: new Date(NOW + 2000) })
  })

  test('resets one key, and that alone', async () => {
    const store = storeAt('fixed-window')
    await store.increment('k')
    await store.increment('kk')
    await store.resetKey('k')
    expect([await store.get('k'), (await store.get('kk'))?.totalHits]).toEqual([undefined, 1])
  })

  test('resets all keys where they are its own', async () => {
    const store = make()
    store.init(init)
    expect([store.localKeys, make({ name: 'a', store: memoryStore() }).localKeys]).toEqual([true, false])
    await store.increment('a')
    await store.increment('b')
    await store.resetAll()
    expect([await store.get('a'), await store.get('b')]).toEqual([undefined, undefined])
    await store.shutdown()
  })

  test('counts hits that come while all keys are reset, and forgets those before', async () => {
    const store = make()
    store.init(init)
    await store.increment('k')
    const reset = store.resetAll()
    const during = await Promise.all([store.increment('k'), store.increment('k')])
    await reset
    expect(during.map(({ totalHits }) => totalHits)).toEqual([1, 2])
    expect((await store.increment('k')).totalHits).toBe(3)
  })

  test.each([0, -1, 1.5, 2 ** 31 * 1000, Number.NaN])(
    'refuses a window of %s ms when the limiter is made',
    (windowMs) => {
      expect(() => make().init({ windowMs, limit: 1 })).toThrow('window: expected')
    },
  )

  test('counts in windows of more than 2^31 ms', async () => {
    const store = make({ name: 'long', store: memoryStore({ clock: () => now }) })
    store.init({ windowMs: 2 ** 32, limit: 2 })
    await store.increment('k')
    now += 2 ** 32 - 10_000_000
    expect(await store.get('k')).toMatchObject({ totalHits: 1 })
    now += 20_000_000
    expect(await store.get('k')).toBeUndefined()
  })

  test('takes back hits of many at once, never below none', async () => {
    const store = storeAt('fixed-window')
    await Promise.all(Array.from({ length: 10 }, () => store.increment('k')))
    await Promise.all(Array.from({ length: 25 }, () => store.decrement('k')))
    expect(await store.get('k')).toBeUndefined()
    expect((await store.increment('k')).totalHits).toBe(1)
  })

  test('tells its keys from those of others by its name', async () => {
    const shared = memoryStore()
    const [login, api] = [make({ name: 'login', store: shared }), make({ name: 'api', store: shared })]
    expect([login.prefix, api.prefix]).toEqual(['login', 'api'])
    await login.increment('k')
    expect((await api.increment('k')).totalHits).toBe(1)
    expect(() => make({ store: shared })).toThrow(/name: expected a name/)
  })

  test('counts keys that no limiter would take', async () => {
    const store = storeAt('sliding-window')
    for (const key of ['', 'with {braces}', 'x'.repeat(10_000), 'line\nfeed']) {
      expect((await store.increment(key)).totalHits, key.slice(0, 20)).toBe(1)
      expect((await store.increment(key)).totalHits, key.slice(0, 20)).toBe(2)
    }
  })
})

describe('express-rate-limit with our store', () => {
  test.each([
    ['skipSuccessfulRequests', [200, 200, 200, 200], '/'],
    ['skipFailedRequests', [401, 401, 401, 401], '/fail'],
  ] as const)('%s gives back', async (option, statuses, path) => {
    const store = expressRateLimitStore()
    const client = clientOf(await serveExpress({ windowMs: 60_000, limit: 1, store, [option]: true }))
    const ask = { headers: { 'X-User': 'ann' } }
    const seen: number[] = []
    for (const _ of statuses) {
      seen.push((await client.ask(path, ask)).status)
      await vi.waitFor(async () => expect(await store.get('ann')).toBeUndefined())
    }
    expect(seen).toEqual(statuses)
  })

  test('passes on an error of the store by its own option', async () => {
    const gone = memoryStore()
    await gone.close()
    const store = () => expressRateLimitStore({ name: 'gone', store: gone })
    const refusing = clientOf(await serveExpress({ windowMs: 60_000, store: store() }))
    const passing = clientOf(
      await serveExpress({ windowMs: 60_000, store: store(), passOnStoreError: true, logger: SILENT }),
    )
    expect([(await refusing.ask()).status, (await passing.ask()).status]).toEqual([500, 200])
  })
})

describe('hono-rate-limiter with our store', () => {
  test('gives back failed requests', async () => {
    const store = honoRateLimiterStore()
    const client = clientOf(await serveHono({ windowMs: 60_000, limit: 1, store, skipFailedRequests: true }))
    const ask = { headers: { 'X-User': 'ann' } }
    for (let i = 0; i < 4; i++) {
      expect((await client.ask('/fail', ask)).status).toBe(401)
      await vi.waitFor(async () => expect(await store.get('ann')).toBeUndefined())
    }
  })
})

describe('@fastify/rate-limit with our store', () => {
  test.each(['fixed-window', 'sliding-window'] as const)(
    'doubles the wait, and keeps it, with exponentialBackoff: %s',
    async (algorithm) => {
      vi.useFakeTimers({ toFake: ['Date'], now: NOW })
      const store = fastifyRateLimitStore({ algorithm })
      const client = clientOf(await serveFastify({ max: 1, timeWindow: 1000, store, exponentialBackoff: true }))
      const ask = { headers: { 'X-User': 'ann' } }
      const seen: string[] = []
      for (const after of [0, 10, 10, 10, 3999, 8000, 1]) {
        vi.setSystemTime(Date.now() + after)
        const { status, headers } = await client.ask('/', ask)
        seen.push(`${status} ${headers['retry-after'] ?? ''}`)
      }
      expect(seen).toEqual(['200 ', '429 1', '429 2', '429 4', '429 8', '200 ', '429 1'])
    },
  )

  test('a ban comes after so many requests over the limit, with exponentialBackoff too', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const store = fastifyRateLimitStore({ algorithm: 'fixed-window' })
    const client = clientOf(await serveFastify({ max: 1, timeWindow: 1000, store, exponentialBackoff: true, ban: 1 }))
    const seen: number[] = []
    for (let i = 0; i < 4; i++) seen.push((await client.ask('/', { headers: { 'X-User': 'ann' } })).status)
    expect(seen).toEqual([200, 429, 403, 403])
  })

  test('requests at once are each counted, and none passes after the limit, with continueExceeding', async () => {
    const store = fastifyRateLimitStore({ algorithm: 'fixed-window' })
    const served = await serveFastify({ max: 5, timeWindow: 60_000, store, continueExceeding: true })
    const clients = Array.from({ length: 20 }, () => clientOf(served))
    const answers = await Promise.all(clients.map((one) => one.ask('/', { headers: { 'X-User': 'ann' } })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
  })

  test('goes on refusing who goes on asking, with continueExceeding', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    const client = clientOf(
      await serveFastify({ max: 1, timeWindow: 1000, store: fastifyRateLimitStore(), continueExceeding: true }),
    )
    const ask = { headers: { 'X-User': 'ann' } }
    const seen: number[] = []
    for (const after of [0, 600, 600, 600, 1000]) {
      vi.setSystemTime(Date.now() + after)
      seen.push((await client.ask('/', ask)).status)
    }
    expect(seen).toEqual([200, 429, 429, 429, 200])
  })

  test('skips an error of the store by its own option', async () => {
    const gone = memoryStore()
    await gone.close()
    const store = fastifyRateLimitStore({ name: 'gone', store: gone })
    const refusing = clientOf(await serveFastify({ max: 1, timeWindow: 1000, store }))
    const passing = clientOf(await serveFastify({ max: 1, timeWindow: 1000, store, skipOnError: true }))
    expect([(await refusing.ask()).status, (await passing.ask()).status]).toEqual([500, 200])
  })

  test('reads a count without adding to it', async () => {
    const store = new (fastifyRateLimitStore())({})
    const asked = (method: 'incr' | 'read') =>
      new Promise((resolve, reject) =>
        store[method]('k', (error, result) => (error ? reject(error) : resolve(result)), 1000, 2),
      )
    expect(await asked('read')).toEqual({ current: 0, ttl: 0 })
    expect(await asked('incr')).toMatchObject({ current: 1 })
    expect(await asked('read')).toMatchObject({ current: 1 })
  })
})

describe('@nestjs/throttler with our storage', () => {
  test('counts each throttler for itself', async () => {
    const storage = throttlerStorage()
    const throttlers = [
      { name: 'short', limit: 1, ttl: 1000 },
      { name: 'long', limit: 5, ttl: 60_000 },
    ]
    const client = clientOf(await serveNest({ throttlers, storage }))
    const ask = { headers: { 'X-User': 'ann' } }
    const first = await client.ask('/', ask)
    expect(first.headers).toMatchObject({ 'x-ratelimit-remaining-short': '0', 'x-ratelimit-remaining-long': '4' })
    const second = await client.ask('/', ask)
    expect([second.status, second.headers['retry-after-short']]).toEqual([429, '1'])
  })

  test('a limit of 0 refuses everything', async () => {
    const storage = throttlerStorage()
    expect(await storage.increment('k', 1000, 0, 1000, 'default')).toMatchObject({
      isBlocked: true,
      timeToBlockExpire: 1,
    })
    await storage.onApplicationShutdown()
  })
})

describe.skipIf(findPart('redis-server') === undefined)(`on Redis ${howToInstall('redis-server')}`, () => {
  let redis: Service
  let client: ReturnType<typeof administrate>
  beforeAll(async () => {
    redis = await startRedis()
    client = administrate(redis.port)
  })
  afterAll(async () => {
    client?.disconnect()
    await redis?.stop()
  })

  test('four limiters of four makers count exactly, each on two servers', async () => {
    const store = redisStore(client, { guarded: false })
    const named = (name: string) => ({ name, store })
    const window = { limit: 10, windowMs: 60_000 }
    const starts: (() => Promise<Served>)[] = [
      () => serveExpress({ ...window, store: expressRateLimitStore(named('express')) }),
      () => serveHono({ ...window, store: honoRateLimiterStore(named('hono')) }),
      () => serveFastify({ max: 10, timeWindow: 60_000, store: fastifyRateLimitStore(named('fastify')) }),
      () => serveNest({ throttlers: [{ limit: 10, ttl: 60_000 }], storage: throttlerStorage(named('nest')) }),
    ]
    for (const start of starts) {
      const clients = [clientOf(await start(), 5), clientOf(await start(), 5)]
      const ask = { headers: { 'X-User': 'ann' } }
      const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => (clients[i % 2] as Client).ask('/', ask)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(30)
    }
  })

  test('what Redis holds of a client that goes on asking is bounded', async () => {
    const store = expressRateLimitStore({ name: 'bounded', store: redisStore(client, { guarded: false }) })
    store.init({ windowMs: 50, limit: 1 })
    for (let i = 0; i < 200; i++) await store.increment('k')
    const limiter = createLimiter({
      name: 'other',
      limit: 1,
      window: 1000,
      store: redisStore(client, { guarded: false }),
    })
    await limiter.limit('k')
    const [key] = (await client.keys('*')).filter((name) => name.includes('bounded'))
    // 50 ticks of 10 bytes, and what surrounds them.
    expect(await client.strlen(key as string)).toBeLessThan(2000)
  })
})
