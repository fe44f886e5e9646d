import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'
import { type OpenStore, openStore } from './open-store.ts'

const REDIS = '/usr/bin/redis-server'
const rules = [{ name: 'per-user', key: ['user'], limit: 2, window: '1m' }]
const body = { descriptor: { user: 'u' } }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

function startRedis(port: number): ChildProcess {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-redis-'))
  const child = spawn(REDIS, [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ])
  cleanups.push(async () => {
    await stopRedis(child)
    rmSync(folder, { recursive: true, force: true })
  })
  return child
}

async function stopRedis(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function serviceOn(
  port: number,
): Promise<{ service: ListeningService; log: { level: number; msg: string }[]; open: OpenStore }> {
  const log: { level: number; msg: string }[] = []
  const logger = pino({}, { write: (line: string) => void log.push(JSON.parse(line)) })
  const open = await openStore(`redis://127.0.0.1:${port}`, logger)
  cleanups.push(() => open.close())
  const service = await listeningService({ rules, store: open.store })
  cleanups.push(() => service.close())
  return { service, log, open }
}

async function readiness({ url }: ListeningService): Promise<number> {
  return (await fetch(`${url}/readyz`)).status
}

async function becomesReady(service: ListeningService): Promise<void> {
  const deadline = Date.now() + 20_000
  while ((await readiness(service)) !== 200) {
    if (Date.now() > deadline) throw new Error('not ready after 20 s')
    await sleep(50)
  }
}

test('a memory store is ready at once', async () => {
  const service = await listeningService({ rules })
  cleanups.push(() => service.close())
  expect([await readiness(service), (await fetch(`${service.url}/healthz`)).status]).toEqual([200, 200])
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

test('with nothing at the port it serves, warns once, and says that it is not ready', async () => {
  const { service, log } = await serviceOn(await freePort())
  await sleep(700)
  expect([await readiness(service), (await fetch(`${service.url}/healthz`)).status]).toEqual([503, 200])
  const started = performance.now()
  const response = await service.post('/v1/limit', body)
  // Nothing waits in a queue for a connection that is not there.
  expect(performance.now() - started).toBeLessThan(900)
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await response.json()).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', status: 503 })
  expect(log.filter(({ level }) => level === 40).map(({ msg }) => msg)).toEqual(['Redis is not reachable; trying on'])
})

test('with a port that takes connections and never answers it serves too', async () => {
  const mute = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(mute, 'listening')
  cleanups.push(() => mute.close())
  const { service } = await serviceOn((mute.address() as { port: number }).port)
  expect(await readiness(service)).toBe(503)
})

test.skipIf(!existsSync(REDIS))(
  'it heals when Redis comes, goes and comes back, and counts nothing twice',
  async () => {
    const port = await freePort()
    const { service, log } = await serviceOn(port)
    expect((await service.post('/v1/limit', body)).status).toBe(503)

    const redis = startRedis(port)
    await becomesReady(service)
    const first = await service.post('/v1/limit', body)
    expect(await first.json()).toMatchObject({ allowed: true, used: 1 })

    await stopRedis(redis)
    const during = await Promise.all([1, 2, 3].map(() => service.post('/v1/limit', body)))
    expect(during.map(({ status }) => status)).toEqual([503, 503, 503])
    expect(await readiness(service)).toBe(503)

    startRedis(port)
    await becomesReady(service)
    // The new Redis is empty: had the refused ones been queued or sent again, they would have used it up.
    const after = await service.post('/v1/limit', body)
    expect(await after.json()).toMatchObject({ allowed: true, used: 1 })
    expect(log.map(({ msg }) => msg)).toEqual([
      'Redis is not reachable; trying on',
      'Redis is back',
      'Redis is not reachable; trying on',
      'Redis is back',
    ])
  },
)

test.skipIf(!existsSync(REDIS))(
  'a key of another type is 409, is left alone, and its neighbours are served',
  async () => {
    const port = await freePort()
    startRedis(port)
    const { service } = await serviceOn(port)
    await becomesReady(service)
    const { Redis } = await import('ioredis')
    const client = new Redis(port)
    cleanups.push(() => client.disconnect())
    await service.post('/v1/limit', body)
    const [key] = await client.keys('*')
    await client.del(key as string)
    await client.lpush(key as string, 'theirs')
    const response = await service.post('/v1/limit', body)
    expect(response.status).toBe(409)
    expect(await response.json()).toMatchObject({
      code: 'ERR_STATE_WRONG_TYPE',
      field: 'descriptor',
      expected: expect.any(String),
    })
    const batch = await service.post('/v1/limit/batch', {
      checks: [{ descriptor: { user: 'v' } }, body, { descriptor: { user: 'v' } }],
    })
    const { decisions } = (await batch.json()) as { decisions: { used?: number; error?: { status: number } }[] }
    expect(decisions.map(({ used, error }) => used ?? error?.status)).toEqual([1, 409, 2])
    expect(await client.lrange(key as string, 0, -1)).toEqual(['theirs'])
  },
)
