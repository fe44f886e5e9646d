import { Redis } from 'ioredis'
import { createGate, createLimiter, memoryStore, type Store } from 'tidegate'
import type { HttpWarning } from 'tidegate/http'
import { redisStore } from 'tidegate/redis'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { findPart, howToInstall } from '../services/parts.ts'
import { administrate, startRedis } from '../services/redis.ts'
import { freePort, type Service } from '../services/service.ts'
import { all } from './all.ts'
import { Client, exchange } from './client.ts'
import { type Application, portOf, type SharedOptions } from './framework.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

describe.each(all.map((framework) => [framework.name, framework] as const))('%s', (_name, framework) => {
  const open: { close(): Promise<void> | void }[] = []
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close()
  })

  async function start(options: SharedOptions, connections = 1): Promise<{ app: Application; client: Client }> {
    const app = await framework.start(options)
    const client = new Client(portOf(app), connections)
    open.push(app, client)
    return { app, client }
  }

  describe('an answer', () => {
    test('says what is left, and a refusal when to come back', async () => {
      const { app, client } = await start({ limit: 2, window: '1m' })
      for (const left of [1, 0]) {
        const { status, headers, body } = await client.ask()
        expect([status, body]).toEqual([200, 'ok'])
        expect(headers).toMatchObject({ 'ratelimit-policy': '"http";q=2;w=60', ratelimit: `"http";r=${left};t=60` })
        expect(headers).not.toHaveProperty('retry-after')
      }
      const { status, headers, body } = await client.ask()
      expect(status).toBe(429)
      expect(headers['ratelimit-policy']).toBe('"http";q=2;w=60')
      const [, wait] = /^"http";r=0;t=(\d+)$/.exec(headers['ratelimit'] as string) ?? []
      expect(Number(wait)).toBeGreaterThan(0)
      expect(headers['retry-after']).toBe(wait)
      expect(headers['content-type']).toMatch(/^application\/problem\+json/)
      expect(JSON.parse(body)).toEqual({
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        title: 'Too many requests',
        status: 429,
        detail: `Over the limit. Try again in ${wait} s.`,
        'violated-policies': ['http'],
      })
      expect(app.handled()).toBe(2)
    })

    test.each([
      ['draft-6', { 'ratelimit-policy': '3;w=60', 'ratelimit-limit': '3', 'ratelimit-remaining': '2' }],
      ['draft-7', { 'ratelimit-policy': '3;w=60', ratelimit: 'limit=3, remaining=2, reset=60' }],
      ['draft-8', { 'ratelimit-policy': '"http";q=3;w=60', ratelimit: '"http";r=2;t=60' }],
      [false, {}],
    ] as const)('has the headers of %s', async (standardHeaders, expected) => {
      const { client } = await start({ limit: 3, window: '1m', standardHeaders })
      const { headers } = await client.ask()
      const sent = Object.entries(headers).filter(([name]) => name.includes('ratelimit'))
      expect(Object.fromEntries(sent)).toEqual({
        ...expected,
        ...(standardHeaders === 'draft-6' && { 'ratelimit-reset': '60' }),
      })
    })

    test('has the older headers besides', async () => {
      const { client } = await start({ limit: 3, window: '1m', legacyHeaders: 'delta' })
      const { headers } = await client.ask()
      expect(headers).toMatchObject({
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': '2',
        'x-ratelimit-reset': '60',
        ratelimit: '"http";r=2;t=60',
      })
    })

    test('to a refused request can be a handler of your own, and each refusal is told', async () => {
      const refused: number[] = []
      const { client } = await start({
        limit: 1,
        window: '1m',
        answer: 'slow down',
        onLimited: (status) => refused.push(status),
      })
      await client.ask()
      const { status, headers, body } = await client.ask()
      expect([status, body]).toEqual([429, expect.stringContaining('slow down')])
      expect(headers).toHaveProperty('retry-after')
      expect(refused).toEqual([429])
    })
  })

  describe('a request', () => {
    test('counts for whom the key generator says, and for its address without a key', async () => {
      const { client } = await start({ limit: 1, window: '1m', keyHeader: 'x-user' })
      const ask = (user?: string) => client.ask('/', { headers: user === undefined ? {} : { 'x-user': user } })
      const users = ['ann', 'ann', 'bob', 'with {braces}', 'with {braces}', undefined, undefined]
      const statuses: number[] = []
      for (const user of users) statuses.push((await ask(user)).status)
      expect(statuses).toEqual([200, 429, 200, 200, 429, 200, 429])
    })

    test('can be skipped, and can cost more than one', async () => {
      const { client } = await start({ limit: 5, window: '1m', skipHeader: 'x-skip', costHeader: 'x-cost' })
      const skipped = await client.ask('/', { headers: { 'x-skip': 'yes' } })
      expect([skipped.status, skipped.headers['ratelimit']]).toEqual([200, undefined])
      const left = async (cost: string) => (await client.ask('/', { headers: { 'x-cost': cost } })).headers['ratelimit']
      expect(await left('4')).toMatch(/r=1;/)
      expect(await left('2')).toMatch(/r=1;/)
      expect(await left('1')).toMatch(/r=0;/)
    })

    test('has to pass several limits, and is charged by none of them if one refuses', async () => {
      const { client } = await start({
        keyHeader: 'x-user',
        limits: [
          { name: 'user', limit: 1, window: '1m' },
          { name: 'all', limit: 2, window: '1h', key: [] },
        ],
      })
      const ask = (user: string) => client.ask('/', { headers: { 'x-user': user } })
      expect((await ask('ann')).headers['ratelimit']).toBe('"user";r=0;t=60, "all";r=1;t=3600')
      const refused = await ask('ann')
      expect(refused.status).toBe(429)
      expect(JSON.parse(refused.body)['violated-policies']).toEqual(['user'])
      expect((await ask('bob')).status).toBe(200)
    })

    test('is decided by a gate that there is', async () => {
      const gate = createGate({
        rules: [
          { name: 'failing', match: { route: '/fail' }, key: ['route', 'ip'], limit: 0, window: '1m' },
          { name: 'head', match: { method: 'GET' }, key: ['client'], limit: 2, window: '1m' },
        ],
      })
      const { client } = await start({ gate })
      expect((await client.ask('/fail')).status).toBe(429)
      expect(await client.statuses(3)).toEqual([200, 200, 429])
      expect((await client.ask('/', { method: 'HEAD' })).status).toBe(429)
      await gate.close()
    })
  })

  describe('what is given back', () => {
    /** Looks at the count that the application makes. */
    function countOf(store: Store) {
      const limiter = createLimiter({ name: 'http', limit: 3, window: '1m', store })
      return async () => (await limiter.peek('127.0.0.1', { cost: 0 })).used
    }
    const limited = { name: 'http', limit: 3, window: '1m' }

    test('are requests that failed, where they are not to count', async () => {
      const store = memoryStore()
      const used = countOf(store)
      const { client } = await start({ ...limited, store, skipFailedRequests: true })
      for (let i = 0; i < 5; i++) {
        expect((await client.ask('/fail')).status).toBe(500)
        await vi.waitFor(async () => expect(await used()).toBe(0))
      }
      expect(await client.statuses(4)).toEqual([200, 200, 200, 429])
      expect(await used()).toBe(3)
    })

    test('are requests that succeeded, where they are not to count', async () => {
      const store = memoryStore()
      const used = countOf(store)
      const { client } = await start({ ...limited, store, skipSuccessfulRequests: true })
      for (let i = 0; i < 5; i++) {
        expect((await client.ask()).status).toBe(200)
        await vi.waitFor(async () => expect(await used()).toBe(0))
      }
      expect(await client.statuses(4, '/fail')).toEqual([500, 500, 500, 429])
    })
  })

  describe('a client that goes away', () => {
    test('has been counted, and harms nobody', async () => {
      const { app, client } = await start({ limit: 3, window: '1m' }, 2)
      await client.abandon('/slow', async () => vi.waitFor(() => expect(app.handled()).toBe(1)))
      await client.ask('/release')
      expect(await client.statuses(2)).toEqual([200, 429])
    })

    // Handlers of fetch do not hear of it: their answer is made all the same.
    const hears = !['Hono 4', 'fetch'].includes(framework.name)
    test(hears ? 'counts as failed' : 'counts as served', async () => {
      const store = memoryStore()
      const limited = { name: 'http', limit: 3, window: '1m', store }
      const limiter = createLimiter(limited)
      const { app, client } = await start({ ...limited, skipFailedRequests: true })
      await client.abandon('/slow', async () => vi.waitFor(() => expect(app.handled()).toBe(1)))
      const used = async () => (await limiter.peek('127.0.0.1', { cost: 0 })).used
      if (hears) await vi.waitFor(async () => expect(await used()).toBe(0))
      await client.ask('/release')
      await client.ask('/')
      // The two after it count in any case.
      expect(await used()).toBe(hears ? 2 : 3)
    })
  })

  describe('a connection', () => {
    test('is kept over admitted and refused requests, with bodies and without', async () => {
      const { app, client } = await start({ limit: 2, window: '1m', keyHeader: 'x-user' })
      let connections = 0
      app.server.on('connection', () => {
        connections += 1
      })
      const body = 'x'.repeat(20_000)
      const post = (user: string) => client.ask('/echo', { method: 'POST', body, headers: { 'x-user': user } })
      expect(await post('ann')).toMatchObject({ status: 200, body })
      expect(await client.statuses(1)).toEqual([200])
      expect((await post('ann')).status).toBe(200)
      expect((await post('ann')).status).toBe(429)
      expect(await post('bob')).toMatchObject({ status: 200, body })
      expect(connections).toBe(1)
    })

    test('takes requests that are pipelined, and answers them in order', async () => {
      const { app } = await start({ limit: 3, window: '1m' })
      const answers = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
      const received = await exchange(portOf(app), REQUEST.repeat(5), (text) => answers(text).length === 5)
      expect(answers(received)).toEqual([200, 200, 200, 429, 429])
      expect([...received.matchAll(/^ratelimit: "http";r=(\d)/gim)].map(([, left]) => left)).toEqual([
        ...['2', '1', '0', '0', '0'],
      ])
    })

    test('becomes a WebSocket without being counted', async () => {
      const { app, client } = await start({ limit: 1, window: '1m' })
      const handshake = 'GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello'
      for (let i = 0; i < 3; i++) {
        const received = await exchange(portOf(app), handshake, (text) => text.endsWith('hello'))
        expect(received).toBe(
          'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello',
        )
      }
      expect(await client.statuses(2)).toEqual([200, 429])
    })
  })

  describe('the client behind a proxy', () => {
    const from = (client: Client, address: string) => client.ask('/', { headers: { 'X-Forwarded-For': address } })

    test('is the proxy, until somebody says whom to trust, which is warned about', async () => {
      const warnings: HttpWarning[] = []
      const { client } = await start({ limit: 1, window: '1m', warn: (warning) => warnings.push(warning) })
      expect((await from(client, '192.0.2.1')).status).toBe(200)
      expect((await from(client, '192.0.2.2')).status).toBe(429)
      expect(warnings.map(({ code }) => code)).toEqual(['TIDEGATE_PROXY_UNTRUSTED'])
    })

    test('is whom the trusted proxy names, whatever the client itself claims', async () => {
      const { client } = await start({ limit: 1, window: '1m', trustProxy: 'loopback', warn: false })
      expect((await from(client, '192.0.2.1')).status).toBe(200)
      expect((await from(client, '198.51.100.7, 192.0.2.1:4711')).status).toBe(429)
      expect((await from(client, '192.0.2.2')).status).toBe(200)
      expect((await from(client, '2001:db8:1:2:3::4')).status).toBe(200)
      expect((await from(client, '2001:db8:1:2:ffff::1')).status).toBe(429)
    })
  })

  describe('requests at once', () => {
    test('are admitted exactly as many as the limit says', async () => {
      const { app, client } = await start({ limit: 50, window: '1m' }, 20)
      const answers = await Promise.all(Array.from({ length: 200 }, () => client.ask()))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(50)
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(150)
      expect(app.handled()).toBe(50)
    })
  })

  /** A client of Redis where no Redis is. */
  async function storeOfNobody(guarded = false): Promise<Store> {
    const client = new Redis({
      ...{ port: await freePort(), host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null },
      ...{ enableOfflineQueue: false, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
    })
    client.on('error', () => undefined)
    await client.connect().catch(() => undefined)
    open.push({ close: () => client.disconnect() })
    return redisStore(client, { guarded })
  }

  describe('a store that cannot be asked', () => {
    const limited = { name: 'api', limit: 3, window: '1m' }

    test('means 503 by default, and never a handler', async () => {
      const { app, client } = await start({ ...limited, store: await storeOfNobody() })
      const { status, headers, body } = await client.ask()
      expect([status, headers['retry-after'], app.handled()]).toEqual([503, '1', 0])
      expect(headers['content-type']).toMatch(/^application\/problem\+json/)
      expect(headers).not.toHaveProperty('ratelimit')
      expect(JSON.parse(body)).toMatchObject({ status: 503, title: 'Service unavailable' })
    })

    test('lets requests pass by `allow`, marked and without figures', async () => {
      const store = await storeOfNobody()
      const { client } = await start({ ...limited, store, onStoreError: 'allow', bypassHeader: 'RateLimit-Bypass' })
      for (let i = 0; i < 5; i++) {
        const { status, headers } = await client.ask()
        expect([status, headers['ratelimit-bypass']]).toEqual([200, 'store-unavailable'])
        expect(headers).not.toHaveProperty('ratelimit')
      }
    })

    test('is the error of the framework by `error`', async () => {
      const { app, client } = await start({ ...limited, store: await storeOfNobody(), onStoreError: 'error' })
      expect((await client.ask()).status).toBe(500)
      expect(app.handled()).toBe(0)
    })
  })

  describe('a guarded store that cannot be asked', () => {
    const limited = { name: 'api', limit: 3, window: '1m' }

    test('counts in the process by default', async () => {
      const { client } = await start({ ...limited, store: await storeOfNobody(true) })
      for (let left = 2; left >= 0; left--) {
        const { status, headers } = await client.ask()
        expect([status, headers['ratelimit']]).toEqual([200, expect.stringContaining(`;r=${left};`)])
      }
      const { status, headers } = await client.ask()
      expect([status, headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)])
    })

    test('is 503 where its rule says so, and passed and marked where that says so', async () => {
      const store = await storeOfNobody(true)
      const denying = await start({ ...limited, name: 'denying', store, onStoreFailure: 'deny' })
      const { status, headers } = await denying.client.ask()
      expect([status, headers['retry-after'], denying.app.handled()]).toEqual([503, '1', 0])
      expect(headers).not.toHaveProperty('ratelimit')
      const options = {
        ...limited,
        name: 'allowing',
        store,
        onStoreFailure: 'allow',
        bypassHeader: 'RateLimit-Bypass',
      } as const
      const allowing = await start(options)
      for (let i = 0; i < 5; i++) {
        const answer = await allowing.client.ask()
        expect([answer.status, answer.headers['ratelimit-bypass']]).toEqual([200, 'store-unavailable'])
        expect(answer.headers).not.toHaveProperty('ratelimit')
      }
    })
  })

  describe.skipIf(findPart('redis-server') === undefined)(`on Redis ${howToInstall('redis-server')}`, () => {
    let redis: Service
    let client: Redis
    beforeAll(async () => {
      redis = await startRedis()
      client = administrate(redis.port)
    })
    afterAll(async () => {
      client?.disconnect()
      await redis?.stop()
    })

    test('two servers admit together what the limit says', async () => {
      const options = { name: 'fleet', limit: 40, window: '1m', store: redisStore(client, { guarded: false }) }
      const [first, second] = [await start(options, 10), await start(options, 10)]
      const answers = await Promise.all(
        Array.from({ length: 120 }, (_, i) => (i % 2 === 0 ? first : second).client.ask()),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(40)
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(80)
      expect(first.app.handled() + second.app.handled()).toBe(40)
    })

    test('an outage is 503 while it lasts, and no longer', async () => {
      const outage = await startRedis()
      const own = new Redis({
        ...{ port: outage.port, host: '127.0.0.1', retryStrategy: () => 20 },
        ...{ enableOfflineQueue: false, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
      })
      own.on('error', () => undefined)
      open.push({ close: () => own.disconnect() })
      await new Promise((resolve) => own.once('ready', resolve))
      const { app, client: asking } = await start({
        name: 'out',
        limit: 9,
        window: '1m',
        store: redisStore(own, { guarded: false }),
      })
      expect((await asking.ask()).status).toBe(200)
      await outage.stop()
      expect((await asking.ask()).status).toBe(503)
      expect(app.handled()).toBe(1)
      const again = await startRedis([], outage.port)
      open.push({ close: () => again.stop() })
      await vi.waitFor(async () => expect((await asking.ask()).status).toBe(200), 10_000)
    })
  })
})
