import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@tidegate/conformance/services'
import { afterEach, expect, test } from 'vitest'
import { listeningService } from '../testing/listening-service.ts'
import { readiness, rules, serviceOnRedis } from '../testing/service-on-redis.ts'

const body = { descriptor: { user: 'u' } }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function open(port: number) {
  const opened = await serviceOnRedis(port)
  cleanups.push(() => opened.close())
  return opened
}

test('a memory store is ready at once', async () => {
  const service = await listeningService({ rules })
  cleanups.push(() => service.close())
  expect([await readiness(service), (await fetch(`${service.url}/healthz`)).status]).toEqual(['ready', 200])
})

test('while leaving it is not ready, and keeps its connections', async () => {
  const service = await listeningService({ rules })
  cleanups.push(() => service.close())
  service.lifecycle.phase = 'leaving'
  const response = await fetch(`${service.url}/readyz`)
  expect([response.status, response.headers.get('connection')]).toEqual([503, 'keep-alive'])
})

test('while closing it is alive, not ready, and ends connections', async () => {
  const service = await listeningService({ rules })
  cleanups.push(() => service.close())
  service.lifecycle.phase = 'closing'
  const response = await fetch(`${service.url}/readyz`)
  expect([response.status, response.headers.get('connection'), response.headers.get('retry-after')]).toEqual([
    503,
    'close',
    '1',
  ])
  expect(await response.json()).toMatchObject({ code: 'ERR_DRAINING' })
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
  expect((await service.post('/v1/limit', body)).status).toBe(200)
})

test('with nothing at the port it serves by the policy of each rule, warns, and says that it has no store', async () => {
  const { service, log } = await open(await freePort())
  await sleep(700)
  expect([await readiness(service), (await fetch(`${service.url}/healthz`)).status]).toEqual(['degraded', 200])
  const started = performance.now()
  const response = await service.post('/v1/limit', body)
  // Nothing waits in a queue for a connection that is not there.
  expect(performance.now() - started).toBeLessThan(900)
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await response.json()).toMatchObject({ allowed: false, reason: 'store_unavailable', source: 'local' })
  expect(log.filter(({ level }) => level === 40).map(({ msg }) => msg)).toEqual([
    'Redis is not reachable; trying on',
    'a decision was made without the store',
  ])
})

test('with a port that takes connections and never answers it serves too', async () => {
  const mute = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(mute, 'listening')
  cleanups.push(() => mute.close())
  const { service } = await open((mute.address() as { port: number }).port)
  expect(await readiness(service)).toBe('degraded')
})
