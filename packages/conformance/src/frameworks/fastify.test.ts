import { type FastifyInstance, fastify } from 'fastify'
import { createGate } from 'tidegate'
import { rateLimit } from 'tidegate/fastify'
import { afterEach, describe, expect, test } from 'vitest'

let app: FastifyInstance
afterEach(() => app.close())

const ok = () => 'ok'

async function statuses(...paths: string[]): Promise<number[]> {
  const answers: number[] = []
  for (const path of paths) {
    const [method = 'GET', url = '/'] = path.split(' ')
    answers.push((await app.inject({ method: method as 'GET', url })).statusCode)
  }
  return answers
}

describe('the plugin for Fastify', () => {
  test('limits routes that were made before it was ready, and unknown paths', async () => {
    app = fastify()
    app.register(rateLimit, { limit: 2, window: '1m' })
    app.get('/', ok)
    expect(await statuses('GET /', 'GET /nowhere', 'GET /', 'GET /nowhere')).toEqual([200, 404, 429, 429])
  })

  test('gives a route limits of its own, decided in one step with those of all', async () => {
    app = fastify()
    await app.register(rateLimit, { limit: 3, window: '1h' })
    app.get('/', ok)
    app.get('/tight', { config: { tidegate: { limit: 1, window: '1m' } } }, ok)
    app.post('/tight', { config: { tidegate: { limit: 1, window: '1m' } } }, ok)
    app.get('/free', { config: { tidegate: false } }, ok)
    const first = await app.inject('/tight')
    expect(first.headers['ratelimit']).toBe('"http";r=2;t=3600, "route";r=0;t=60')
    const second = await app.inject('/tight')
    expect(second.json()).toMatchObject({ status: 429, 'violated-policies': ['route'] })
    // The refusal has charged nobody: two are left of three for all.
    expect(await statuses('POST /tight', 'GET /', 'GET /', 'GET /free')).toEqual([200, 200, 429, 200])
  })

  test('counts HEAD as GET', async () => {
    app = fastify()
    await app.register(rateLimit)
    app.get('/tight', { config: { tidegate: { limit: 1, window: '1m' } } }, ok)
    expect(await statuses('HEAD /tight', 'GET /tight', 'HEAD /tight')).toEqual([200, 429, 429])
  })

  test('limits no route but those that say so where it has no limit for all', async () => {
    app = fastify()
    await app.register(rateLimit)
    app.get('/', ok)
    app.get('/items/:id', { config: { tidegate: { limit: 2, window: '1m' } } }, ok)
    expect(await statuses('GET /', 'GET /items/1', 'GET /items/2', 'GET /items/3', 'GET /')).toEqual([
      ...[200, 200, 200, 429, 200],
    ])
  })

  test('stays within the scope that it is registered in', async () => {
    app = fastify()
    app.register(async (scope) => {
      scope.register(rateLimit, { limit: 1, window: '1m' })
      scope.get('/inside', ok)
    })
    app.get('/outside', ok)
    expect(await statuses('GET /inside', 'GET /inside', 'GET /outside', 'GET /outside')).toEqual([200, 429, 200, 200])
  })

  test('can decide later, when it is known who asks', async () => {
    app = fastify()
    app.decorateRequest('user', '')
    app.addHook('preHandler', async (request) => {
      Object.assign(request, { user: request.headers['authorization'] })
    })
    app.register(rateLimit, {
      limit: 1,
      window: '1m',
      hook: 'preHandler',
      keyGenerator: (request) => (request as unknown as { user: string }).user,
    })
    app.get('/', ok)
    const as = async (user: string) => (await app.inject({ url: '/', headers: { authorization: user } })).statusCode
    expect([await as('ann'), await as('ann'), await as('bob')]).toEqual([200, 429, 200])
  })

  test.each(['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const)('works as %s', async (hook) => {
    app = fastify()
    app.register(rateLimit, { limit: 1, window: '1m', hook })
    app.post('/', ({ body }) => body)
    const post = () => app.inject({ method: 'POST', url: '/', payload: { a: 1 } })
    const [first, second] = [await post(), await post()]
    expect([first.statusCode, first.json(), second.statusCode]).toEqual([200, { a: 1 }, 429])
  })

  test('believes whom Fastify itself was told to believe', async () => {
    app = fastify({ trustProxy: 'loopback' })
    app.register(rateLimit, { limit: 1, window: '1m' })
    app.get('/', ok)
    const from = async (address: string) =>
      (await app.inject({ url: '/', headers: { 'x-forwarded-for': address } })).statusCode
    expect([await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.2')]).toEqual([200, 429, 200])
  })

  test('refuses mistakes when it is registered, and those of a route when that is made', async () => {
    app = fastify()
    await expect(app.register(rateLimit, { limit: -1, window: '1m' })).rejects.toThrow(/^limit: expected/)
    app = fastify()
    await expect(app.register(rateLimit, { limit: 1, window: '1m', hook: 'onSend' as never })).rejects.toThrow(
      /^hook: /,
    )
    app = fastify()
    await app.register(rateLimit)
    expect(() => app.get('/', { config: { tidegate: { limit: 1, windw: 5 } as never } }, ok)).toThrow(/^windw: unknown/)
    expect(() => app.get('/', { config: { tidegate: {} } }, ok)).toThrow(/limit: expected/)
    app = fastify()
    await app.register(rateLimit, { gate: createGate({ rules: [] }) })
    expect(() => app.get('/', { config: { tidegate: { limit: 1, window: 5 } } }, ok)).toThrow(/^gate: expected none/)
  })
})
