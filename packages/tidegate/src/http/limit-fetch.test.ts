import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLimiter, type Limiter } from '../limiter.ts'
import { limitFetch } from './limit-fetch.ts'

/** A third party's service, that answers as each test says. */
let answer: (request: IncomingMessage, response: ServerResponse) => void
let asked: { method: string | undefined; body: string }[] = []
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  asked.push({ method: request.method, body })
  answer(request, response)
})
let url = ''
let limiter: Limiter
beforeEach(async () => {
  asked = []
  answer = (_request, response) => response.end('ok')
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterEach(async () => {
  await limiter.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const host = () => new URL(url).host

describe('limitFetch', () => {
  it('lets requests wait their turn', async () => {
    limiter = createLimiter({ limit: 2, window: 200 })
    const limited = limitFetch(fetch, limiter)
    const bodies = await Promise.all(Array.from({ length: 5 }, async () => (await limited(url)).text()))
    expect(bodies).toEqual(['ok', 'ok', 'ok', 'ok', 'ok'])
    // Two, two and one: whatever has waited has left its window.
    expect((await limiter.peek(host(), { cost: 0 })).used).toBeLessThanOrEqual(2)
    expect(asked).toHaveLength(5)
  })

  it('counts by host, or by what it is told', async () => {
    limiter = createLimiter({ limit: 5, window: '1h' })
    await limitFetch(fetch, limiter)(new URL(url))
    await limitFetch(fetch, limiter, { key: ({ method }) => method })(url, { method: 'PUT', body: 'x' })
    expect((await limiter.peek(host(), { cost: 0 })).used).toBe(1)
    expect((await limiter.peek('PUT', { cost: 0 })).used).toBe(1)
  })

  it('holds back where an answer says that nothing is left', async () => {
    limiter = createLimiter({ limit: 100, window: '1h' })
    answer = (_request, response) => response.setHeader('RateLimit', '"theirs";r=0;t=60').end()
    const limited = limitFetch(fetch, limiter, { timeout: 50 })
    expect((await limited(url)).status).toBe(200)
    await expect(limited(url)).rejects.toMatchObject({ code: 'ERR_TURN_TOO_LATE' })
    expect(asked).toHaveLength(1)
    const { reason, retryAfterMs } = await limiter.peek(host())
    expect(reason).toBe('blocked')
    expect(retryAfterMs).toBeGreaterThan(55_000)
  })

  it('does not come back earlier because a later answer asks for less', async () => {
    limiter = createLimiter({ limit: 100, window: '1h' })
    const waits = ['60', '1']
    answer = (_request, response) => response.setHeader('Retry-After', waits.shift() ?? '').end()
    const limited = limitFetch(fetch, limiter)
    await Promise.all([limited(url), limited(url)])
    expect((await limiter.peek(host())).retryAfterMs).toBeGreaterThan(55_000)
  })

  it('makes a refused request again, with its body, when it may', async () => {
    limiter = createLimiter({ limit: 100, window: '1h' })
    answer = (_request, response) => {
      if (asked.length > 1) response.end('at last')
      else response.writeHead(429, { 'Retry-After': '1' }).end()
    }
    const limited = limitFetch(fetch, limiter, { retries: 2 })
    const response = await limited(url, { method: 'POST', body: 'order 17' })
    expect([response.status, await response.text()]).toEqual([200, 'at last'])
    expect(asked.map(({ method, body }) => `${method} ${body}`)).toEqual(['POST order 17', 'POST order 17'])
  })

  it('gives back the last refusal, and one that names no time', async () => {
    limiter = createLimiter({ limit: 100, window: '1h' })
    answer = (_request, response) => response.writeHead(503).end('down')
    expect((await limitFetch(fetch, limiter, { retries: 3 })(url)).status).toBe(503)
    answer = (_request, response) => response.writeHead(429, { 'Retry-After': '1' }).end()
    expect((await limitFetch(fetch, limiter)(url)).status).toBe(429)
    expect(asked).toHaveLength(2)
  })

  it('ends with the signal, in line and on the way, and has then charged nothing in line', async () => {
    limiter = createLimiter({ limit: 1, window: '1h' })
    const limited = limitFetch(fetch, limiter, { timeout: '366d' })
    await limited(url)
    const controller = new AbortController()
    const waiting = limited(url, { signal: controller.signal })
    controller.abort(new Error('changed my mind'))
    await expect(waiting).rejects.toThrow('changed my mind')
    await limiter.reset(host())
    answer = () => controller2.abort(new Error('too slow'))
    const controller2 = new AbortController()
    await expect(limited(url, { signal: controller2.signal })).rejects.toThrow('too slow')
    expect((await limiter.peek(host(), { cost: 0 })).used).toBe(1)
  })

  it('refuses options that are none', () => {
    limiter = createLimiter({ limit: 1, window: '1h' })
    expect(() => limitFetch(fetch, limiter, { retries: -1 })).toThrow(/retries: expected a whole number/)
    expect(() => limitFetch(fetch, limiter, { timeout: 'long' })).toThrow(/timeout: expected/)
    expect(() => limitFetch(fetch, limiter, { retry: 1 } as never)).toThrow(/retry: unknown option/)
    expect(() => limitFetch(undefined as never, limiter)).toThrow(/fetch: expected a function/)
  })
})
