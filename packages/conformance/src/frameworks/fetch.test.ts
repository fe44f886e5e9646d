import { Hono } from 'hono'
import { rateLimit as limitFetchHandler } from 'tidegate/fetch'
import { rateLimit as limitHono } from 'tidegate/hono'
import type { HttpWarning } from 'tidegate/http'
import { describe, expect, test } from 'vitest'

const request = (headers: Record<string, string> = {}) => new Request('http://x.example/', { headers })
const MINUTE = { limit: 1, window: '1m' } as const

describe('Hono as runtimes other than Node serve it', () => {
  const deno = (hostname: string) => ({ remoteAddr: { hostname } })
  const bun = (address: string) => ({ requestIP: () => ({ address }) })
  test.each([
    ['Deno', deno],
    ['Bun', bun],
    ['Bun, by hand', (address: string) => ({ server: bun(address) })],
  ])('finds the address of %s', async (_name, environment) => {
    const app = new Hono()
    app.use(limitHono(MINUTE))
    app.get('/', (context) => context.text('ok'))
    const from = async (address: string) => (await app.fetch(request(), environment(address))).status
    expect([await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.2')]).toEqual([200, 429, 200])
  })

  test('takes it from where it is told, and warns where it finds none', async () => {
    const warnings: HttpWarning[] = []
    const app = new Hono()
    app.use('/told', limitHono({ ...MINUTE, address: (context) => context.req.header('cf-connecting-ip') }))
    app.use('/none', limitHono({ ...MINUTE, warn: (warning) => warnings.push(warning) }))
    app.get('/told', (context) => context.text('ok'))
    app.get('/none', (context) => context.text('ok'))
    const told = async (address: string) =>
      (await app.request('/told', { headers: { 'CF-Connecting-IP': address } })).status
    expect([await told('192.0.2.1'), await told('192.0.2.1'), await told('192.0.2.2')]).toEqual([200, 429, 200])
    expect([(await app.request('/none')).status, (await app.request('/none')).status]).toEqual([200, 429])
    expect(warnings.map(({ code }) => code)).toEqual(['TIDEGATE_NO_CLIENT_ADDRESS'])
  })

  test('adds its headers to an answer that a handler has made or fetched', async () => {
    const app = new Hono()
    app.use(limitHono({ ...MINUTE, keyGenerator: () => 'k' }))
    app.get('/', () => Response.redirect('http://x.example/elsewhere'))
    const response = await app.fetch(request())
    expect([response.status, response.headers.get('ratelimit')]).toEqual([302, '"http";r=0;t=60'])
  })

  test('leaves a WebSocket alone', async () => {
    const app = new Hono()
    app.use(limitHono({ ...MINUTE, keyGenerator: () => 'k' }))
    app.get('/', () => switching())
    const response = await app.fetch(request())
    expect([response.status, response.headers.get('ratelimit')]).toEqual([101, null])
  })
})

/** What a runtime answers to open a WebSocket: outside of one nobody can make it, so its status is put on. */
function switching(): Response {
  return Object.defineProperty(new Response(null), 'status', { value: 101 })
}

describe('a plain fetch handler', () => {
  test('needs to be told where the client is found', () => {
    expect(() => limitFetchHandler(MINUTE)).toThrow(/^address: expected address, keyGenerator or trustProxy/)
  })

  test('finds it by the number of proxies in front', async () => {
    const handle = limitFetchHandler({ ...MINUTE, trustProxy: 1 })(() => new Response('ok'))
    const from = async (address: string) => (await handle(request({ 'X-Forwarded-For': address }))).status
    expect([await from('192.0.2.1'), await from('9.9.9.9, 192.0.2.1'), await from('192.0.2.2')]).toEqual([
      200, 429, 200,
    ])
  })

  test('adds headers to an answer whose own cannot be changed', async () => {
    const handle = limitFetchHandler({ ...MINUTE, keyGenerator: () => 'k' })(() => Response.error())
    const frozen = limitFetchHandler({ ...MINUTE, keyGenerator: () => 'k' })(() =>
      Response.redirect('http://x.example'),
    )
    expect((await frozen(request())).headers.get('ratelimit')).toBe('"http";r=0;t=60')
    expect((await handle(request())).type).toBe('error')
  })

  test('gives back what failed, a handler that throws among it', async () => {
    let calls = 0
    const limited = limitFetchHandler({ ...MINUTE, keyGenerator: () => 'k', skipFailedRequests: true })
    const handle = limited(async () => {
      calls += 1
      if (calls === 1) throw new Error('broken')
      return new Response(null, { status: calls === 2 ? 500 : 200 })
    })
    await expect(handle(request())).rejects.toThrow('broken')
    const statuses = [await handle(request()), await handle(request()), await handle(request())]
    expect(statuses.map(({ status }) => status)).toEqual([500, 200, 429])
  })
})
