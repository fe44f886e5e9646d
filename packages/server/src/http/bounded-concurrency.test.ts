import { connect } from 'node:net'
import { memoryStore, type Store } from 'tidegate'
import { afterEach, expect, test } from 'vitest'
import { listeningService } from '../testing/listening-service.ts'
import { until } from '../testing/service-on-redis.ts'

const rules = [{ name: 'per-user', key: ['user'], limit: 100, window: '1m' }]
const body = { descriptor: { user: 'u' } }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A service whose store answers when the test says so. */
async function slowService(maxConcurrent: number) {
  const inner = memoryStore()
  const waiting: (() => void)[] = []
  const bound = Object.fromEntries(
    (
      ['reserve', 'settle', 'refund', 'renew', 'entries', 'block', 'unblock', 'reset', 'ping', 'close'] as const
    ).flatMap((name) => {
      const method: unknown = (inner as unknown as Record<string, unknown>)[name]
      return typeof method === 'function' ? [[name, method.bind(inner)]] : []
    }),
  )
  const store = {
    ...bound,
    clock: inner.clock,
    decide: async (...args: Parameters<Store['decide']>) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return inner.decide(...args)
    },
  } as unknown as Store
  const service = await listeningService({ rules, store, maxConcurrent })
  cleanups.push(() => service.close())
  const release = () => {
    for (const answer of waiting.splice(0)) answer()
  }
  return { service, waiting, release }
}

test('what exceeds the bound is 503 at once, with Retry-After; health is answered; room that is free is used', async () => {
  const { service, waiting, release } = await slowService(2)
  const first = [service.post('/v1/limit', body), service.post('/v1/limit', body)]
  await until(async () => waiting.length === 2)
  const refused = await service.post('/v1/limit', body)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await refused.json()).toMatchObject({ code: 'ERR_OVERLOADED', detail: '2 requests are under way already' })
  for (const path of ['healthz', 'healthcheck', 'metrics']) {
    expect((await fetch(`${service.url}/${path}`)).status).toBe(200)
  }
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  release()
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200])
  const next = service.post('/v1/limit', body)
  await until(async () => waiting.length === 1)
  release()
  expect((await next).status).toBe(200)
})

test('a client that goes away leaves its room to others', async () => {
  const { service, waiting, release } = await slowService(1)
  const socket = connect(service.port, '127.0.0.1')
  const text = JSON.stringify(body)
  const head = `POST /v1/limit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n`
  socket.write(head + text)
  await until(async () => waiting.length === 1)
  expect((await service.post('/v1/limit', body)).status).toBe(503)
  socket.destroy()
  await until(async () => (await service.connections()) <= 1)
  const next = service.post('/v1/limit', body)
  await until(async () => waiting.length === 2)
  release()
  expect((await next).status).toBe(200)
})
