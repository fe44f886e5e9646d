import { readFile } from 'node:fs/promises'
import { platform } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { createLimiter } from 'tidegate'
import { type RedisClient, redisStore } from 'tidegate/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientKinds, type OpenClient } from './clients.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { administrate, startRedis } from './services/redis.ts'
import { type ClusterService, startRedisCluster } from './services/redis-cluster.ts'
import { SENTINEL_NAME, type SentinelService, startSentinel } from './services/sentinel.ts'
import type { Service } from './services/service.ts'
import { waitFor } from './services/wait-for.ts'

const skipped = findPart('redis-server') === undefined

/**
 * Loses the answer of a second decision: the server is stopped, sent the decision and then, by another connection,
 * the order to close all others, and let go on, so that it reads both in one turn and answers neither.
 * @returns what became of the decision, and how much is counted
 */
async function loseAnswer({ process, port }: Service, client: RedisClient): Promise<{ code: string; used: number }> {
  const limiter = createLimiter({
    name: 'lost',
    limit: 10,
    window: '1h',
    store: redisStore(client, { guarded: false }),
  })
  const admin = administrate(port)
  try {
    await admin.flushall()
    await limiter.limit('k')
    process.kill('SIGSTOP')
    await stopped(process.pid as number)
    const lost = limiter.limit('k')
    const code = lost.then(
      () => 'answered',
      (error) => error.code,
    )
    await sleep(50)
    const killed = admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await sleep(50)
    process.kill('SIGCONT')
    await killed
    const outcome = await Promise.race([code, sleep(3000, 'no answer')])
    const counting = createLimiter({
      name: 'lost',
      limit: 10,
      window: '1h',
      store: redisStore(admin, { guarded: false }),
    })
    return { code: outcome, used: (await counting.peek('k', { cost: 0 })).used }
  } finally {
    process.kill('SIGCONT')
    admin.disconnect()
  }
}

/** A server that has been told to stop and is not yet at rest would read the decision before the order. */
async function stopped(pid: number): Promise<void> {
  if (platform !== 'linux') return void (await sleep(500))
  await waitFor('a server at rest', async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).includes(') T '))
}

async function closing<T>({ client, close }: OpenClient, use: (client: RedisClient) => Promise<T>): Promise<T> {
  try {
    return await use(client)
  } finally {
    close()
  }
}

describe.skipIf(skipped)(`an answer lost with its connection ${skipped ? howToInstall('redis-server') : ''}`, () => {
  let server: Service
  let cluster: ClusterService
  let sentinel: SentinelService
  beforeAll(async () => {
    ;[server, cluster, sentinel] = await Promise.all([startRedis(), startRedisCluster(), startSentinel()])
  })
  afterAll(() => Promise.all([server?.stop(), cluster?.stop(), sentinel?.stop()]))

  // `k` lies in slot 7,629.
  const node = () => cluster.nodes[1]?.service as Service
  const ports = () => cluster.nodes.map(({ port }) => port)
  const once = { code: 'ERR_STORE_UNAVAILABLE', used: 2 }

  test.each(clientKinds)('$name: is an error, and counted once', async ({ single }) => {
    await closing(await single(server.port), async (client) => {
      expect(await loseAnswer(server, client)).toEqual(once)
    })
  })

  test.each(clientKinds)('$name, cluster: is an error, and counted once', async ({ cluster: open }) => {
    await closing(await open(ports()), async (client) => {
      expect(await loseAnswer(node(), client)).toEqual(once)
    })
  })

  for (const { name, sentinel: open } of clientKinds) {
    if (open === undefined) continue
    test(`${name}, Sentinel: is an error, and counted once`, async () => {
      const primary = await sentinel.primaryPort()
      const service = sentinel.servers.find(({ port }) => port === primary) as Service
      await closing(await open(sentinel.sentinels, SENTINEL_NAME), async (client) => {
        expect(await loseAnswer(service, client)).toEqual(once)
      })
    })
  }

  // Otherwise the tests above would prove nothing, and the warnings would be for nothing.
  test('is counted twice by an ioredis left as it is', async () => {
    const client = new Redis(server.port)
    await closing({ client, close: () => client.disconnect() }, async () => {
      expect(await loseAnswer(server, client)).toEqual({ code: 'answered', used: 3 })
    })
  })

  test('is waited for for ever by an ioredis that neither sends again nor gives up', async () => {
    const client = new Redis({ port: server.port, autoResendUnfulfilledCommands: false })
    await closing({ client, close: () => client.disconnect() }, async () => {
      expect(await loseAnswer(server, client)).toEqual({ code: 'no answer', used: 2 })
    })
  })

  test('is counted twice by an ioredis Cluster left as it is', async () => {
    const client = new Cluster(ports())
    await closing({ client, close: () => client.disconnect() }, async () => {
      expect(await loseAnswer(node(), client)).toEqual({ code: 'answered', used: 3 })
    })
  })
})
