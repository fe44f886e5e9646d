import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { findPart, freePort, howToInstall, type Service, startRedis } from '@tidegate/conformance/services'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, test } from 'vitest'
import type { ListeningService } from '../testing/listening-service.ts'
import { readiness, type StoreLog, serviceOnRedis, until } from '../testing/service-on-redis.ts'

const body = { descriptor: { user: 'u' } }
const REFUSED = 'Redis refuses the login, the database or a command; trying on'
/** Those that the reference names, but for the one that a database takes. */
const RIGHTS = '+evalsha +eval +ping +info +time +getrange +set +setrange +pexpire'.split(' ')
const DENIED = { allowed: false, reason: 'store_unavailable', source: 'local' }
const READ_ONLY = 'Redis is a read-only replica; connecting anew'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function redis(port?: number, ...options: string[]): Promise<Service> {
  // Without the delay of 5 s in which a primary waits for more replicas.
  const started = await startRedis(['--repl-diskless-sync-delay', '0', ...options], port)
  cleanups.push(() => started.stop('SIGKILL'))
  return started
}

function clientOf({ port }: Service): Redis {
  const client = new Redis(port, '127.0.0.1')
  cleanups.push(() => client.disconnect())
  return client
}

async function open(port: number, options?: { login?: string; database?: string }) {
  const opened = await serviceOnRedis(port, options)
  cleanups.push(() => opened.close())
  return opened
}

async function becomesReplica(client: Redis, { port }: Service): Promise<void> {
  await client.replicaof('127.0.0.1', port)
  await until(async () => (await client.info('replication')).includes('master_link_status:up'))
}

/** What is said besides that decisions are made without the store, and of a store that is full. */
const withoutFallbacks = (log: StoreLog) =>
  log.filter(({ msg }) => !/without (?:the store|it)\b|of its maxmemory/.test(msg))
const words = (log: StoreLog) => withoutFallbacks(log).map(({ msg }) => msg)

async function statusOf(service: ListeningService): Promise<number> {
  return (await service.post('/v1/limit', body)).status
}

const skipped = findPart('redis-server') === undefined
describe.skipIf(skipped)(`a real Redis ${skipped ? howToInstall('redis-server') : ''}`, () => {
  test('that comes, goes and comes back is used again, and nothing is counted twice', async () => {
    const port = await freePort()
    const { service, log } = await open(port)
    const isReady = async () => (await readiness(service)) === 'ready'
    expect(await statusOf(service)).toBe(429)

    const first = await redis(port)
    await until(isReady)
    expect(await (await service.post('/v1/limit', body)).json()).toMatchObject({ allowed: true, used: 1 })

    await first.stop('SIGKILL')
    const during = await Promise.all([1, 2, 3].map(() => statusOf(service)))
    expect(during).toEqual([429, 429, 429])
    expect(await readiness(service)).toBe('degraded')

    await redis(port)
    await until(isReady)
    // The new Redis is empty: had the refused ones been queued or sent again, they would have used it up.
    expect(await (await service.post('/v1/limit', body)).json()).toMatchObject({ allowed: true, used: 1 })
    expect(words(log)).toEqual([
      'Redis is not reachable; trying on',
      'Redis is back',
      'Redis is not reachable; trying on',
      'Redis is back',
    ])
  })

  test('whose key is of another type answers 409 for it, leaves it alone, and serves its neighbours', async () => {
    const server = await redis()
    const { service } = await open(server.port)
    const client = clientOf(server)
    await service.post('/v1/limit', body)
    const [key] = await client.keys('*')
    await client.del(key as string)
    await client.lpush(key as string, 'theirs')
    const response = await service.post('/v1/limit', body)
    const problem = (await response.json()) as { detail: string }
    expect([response.status, problem]).toEqual([
      409,
      expect.objectContaining({ code: 'ERR_STATE_WRONG_TYPE', field: 'descriptor', expected: expect.any(String) }),
    ])
    expect(problem.detail).toContain(`the key ${key} of rule per-user`)
    const batch = await service.post('/v1/limit/batch', {
      checks: [{ descriptor: { user: 'v' } }, body, { descriptor: { user: 'v' } }],
    })
    const { decisions } = (await batch.json()) as { decisions: { used?: number; error?: { status: number } }[] }
    expect(decisions.map(({ used, error }) => used ?? error?.status)).toEqual([1, 409, 2])
    expect(await client.lrange(key as string, 0, -1)).toEqual(['theirs'])
  })

  test('that is a replica decides nothing until it is promoted', async () => {
    const [primary, replica] = [await redis(), await redis()]
    const client = clientOf(replica)
    await becomesReplica(client, primary)
    const { service, log } = await open(replica.port)
    const response = await service.post('/v1/limit', body)
    expect([response.status, await response.json()]).toEqual([429, expect.objectContaining(DENIED)])
    expect(words(log)).toEqual(['connected to Redis', READ_ONLY])
    // It answers, and that is all that readiness asks; see the reference.
    await until(async () => (await readiness(service)) === 'ready')
    await client.replicaof('NO', 'ONE')
    await until(async () => (await statusOf(service)) === 200)
    expect(words(log)).not.toContain('Redis is not reachable; trying on')
    expect(await client.dbsize()).toBe(1)
  })

  test('that became a replica is left for the primary, to which the same name leads', async () => {
    const [old, next] = [await redis(), await redis()]
    let target = old.port
    const name = createServer((socket) => {
      const upstream = connect(target, '127.0.0.1')
      socket.on('error', () => upstream.destroy()).on('close', () => upstream.destroy())
      upstream.on('error', () => socket.destroy()).on('close', () => socket.destroy())
      socket.pipe(upstream).pipe(socket)
    })
    const port = await freePort()
    await new Promise<void>((resolve) => name.listen(port, '127.0.0.1', resolve))
    cleanups.push(() => name.close())
    const { service, log } = await open(port)
    expect(await statusOf(service)).toBe(200)

    target = next.port
    // The connection that is open still leads to the old one.
    await becomesReplica(clientOf(old), next)
    // The first request waits for the new connection, half a second at most.
    expect([200, 429]).toContain(await statusOf(service))
    await until(async () => (await statusOf(service)) === 200)
    expect(words(log)).toEqual(['connected to Redis', READ_ONLY])
    expect(await clientOf(next).dbsize()).toBe(1)
  })

  test('that has no such database is an outage, and nothing is counted in another', async () => {
    const server = await redis()
    const { service, log } = await open(server.port, { database: '99' })
    const answers = []
    for (let i = 0; i < 20; i++) {
      const response = await service.post('/v1/limit', body)
      answers.push([response.status, await response.json(), await readiness(service)])
      await sleep(50)
    }
    expect(answers).toEqual(Array.from({ length: 20 }, () => [429, expect.objectContaining(DENIED), 'degraded']))
    expect(await clientOf(server).dbsize()).toBe(0)
    expect(withoutFallbacks(log).map(({ msg, reason }) => [msg, reason])).toEqual([
      [REFUSED, 'SELECT: ERR DB index is out of range'],
    ])
  })

  test('whose user may not select is an outage, until the right is given', async () => {
    const server = await redis()
    const client = clientOf(server)
    await client.call('ACL', 'SETUSER', 'u', 'on', '>p', '~tg:*', ...RIGHTS)
    const { service, log } = await open(server.port, { login: 'u:p@', database: '1' })
    expect([await statusOf(service), await readiness(service)]).toEqual([429, 'degraded'])
    await client.call('ACL', 'SETUSER', 'u', '+select')
    await until(async () => (await statusOf(service)) === 200)
    expect(await client.dbsize()).toBe(0)
    expect(await client.info('keyspace')).toContain('db1:keys=1')
    expect(words(log)).toEqual([REFUSED, 'Redis is back'])
    expect(withoutFallbacks(log)[0]?.reason).toMatch(/^SELECT: NOPERM /)
  })

  test('that refuses the login is not called unreachable', async () => {
    const server = await redis()
    const { log } = await open(server.port, { login: 'nobody:wrong@' })
    expect(withoutFallbacks(log).map(({ msg, reason }) => [msg, reason])).toEqual([
      [REFUSED, expect.stringMatching(/^\w+: WRONGPASS /)],
    ])
  })

  test('that is full decides nothing new, stays ready, and is one warning', async () => {
    const server = await redis(undefined, '--maxmemory', '1', '--maxmemory-policy', 'noeviction')
    const { service, log } = await open(server.port)
    const response = await service.post('/v1/limit', body)
    expect([response.status, await response.json()]).toEqual([429, expect.objectContaining(DENIED)])
    expect([await statusOf(service), await readiness(service)]).toEqual([429, 'ready'])
    expect(withoutFallbacks(log).filter(({ level }) => level === 40)).toEqual([
      expect.objectContaining({ kind: 'OOM', count: 1, msg: 'the store fails' }),
    ])
  })

  test('that may not run scripts for this user, and one that stalls, are a warning each', async () => {
    const server = await redis()
    const client = clientOf(server)
    await client.call('ACL', 'SETUSER', 'u', 'on', '>p', '~*', '+@all', '-evalsha')
    const { service, log } = await open(server.port, { login: 'u:p@' })
    expect(await statusOf(service)).toBe(429)
    await client.call('ACL', 'SETUSER', 'u', '+evalsha')
    await client.call('CLIENT', 'PAUSE', '1500')
    expect(await statusOf(service)).toBe(429)
    expect(
      withoutFallbacks(log)
        .filter(({ level }) => level === 40)
        .map(({ kind }) => kind),
    ).toEqual(['NOPERM', 'timeout'])
  })
})
