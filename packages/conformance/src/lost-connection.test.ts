import { setTimeout as sleep } from 'node:timers/promises'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClientKind, clientKinds, type OpenClient } from './clients.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { administrate, startRedis } from './services/redis.ts'
import { type ClusterService, startRedisCluster } from './services/redis-cluster.ts'
import { SENTINEL_NAME, type SentinelService, startSentinel } from './services/sentinel.ts'
import type { Service } from './services/service.ts'

const skipped = findPart('redis-server') === undefined

/**
 * The server decides, and the connection is lost before the answer has left: it is stopped, sent the decision
 * and then, by another connection, an order to close all others, and let go on, so that it reads both in one turn.
 */
async function countAfterLostAnswer(service: Service, { client, close }: OpenClient): Promise<{ used: number }> {
  const limiter = createLimiter({ name: 'lost', limit: 10, window: '1h', store: redisStore(client) })
  const admin = administrate(service.port)
  try {
    await admin.flushall()
    await limiter.limit('k')
    service.process.kill('SIGSTOP')
    const lost = limiter.limit('k').catch((error: unknown) => error)
    await sleep(100)
    const killed = admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await sleep(100)
    service.process.kill('SIGCONT')
    await killed
    await Promise.race([lost.then((x) => console.log(x)), sleep(10_000)])
    await sleep(500)
    const survivor = createLimiter({ name: 'lost', limit: 10, window: '1h', store: redisStore(admin) })
    return await survivor.peek('k', { cost: 0 })
  } finally {
    service.process.kill('SIGCONT')
    admin.disconnect()
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

  test.each(clientKinds)('is not asked for again by $name', async ({ single }: ClientKind) => {
    expect(await countAfterLostAnswer(server, await single(server.port))).toMatchObject({ used: 2 })
  })

  test.each(clientKinds)('is not asked for again by $name in a cluster', async ({ cluster: open }: ClientKind) => {
    const ports = cluster.nodes.map(({ port }) => port)
    // `k` lies in slot 7,629, of the second node.
    const node = cluster.nodes[1]?.service as Service
    expect(await countAfterLostAnswer(node, await open(ports))).toMatchObject({ used: 2 })
  })

  test.each(clientKinds.filter(({ sentinel }) => sentinel))(
    'is not asked for again by $name through Sentinel',
    async ({ sentinel: open }) => {
      const port = await sentinel.primaryPort()
      const service = sentinel.servers.find((server) => server.port === port) as Service
      const client = (await open?.(sentinel.sentinels, SENTINEL_NAME)) as OpenClient
      expect(await countAfterLostAnswer(service, client)).toMatchObject({ used: 2 })
    },
  )
})
