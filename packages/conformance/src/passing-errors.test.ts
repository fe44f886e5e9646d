import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientKinds } from './clients.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { administrate, startRedis } from './services/redis.ts'
import { type ClusterNode, type ClusterService, startRedisCluster } from './services/redis-cluster.ts'
import type { Service } from './services/service.ts'
import { waitFor } from './services/wait-for.ts'

const skipped = findPart('redis-server') === undefined

// Loads slowly, and looks after clients meanwhile.
const SLOW_LOADING = ['--enable-debug-command', 'yes', '--loading-process-events-interval-bytes', '1024']

// The kind of fault: a server that is busy with itself for a moment fails requests, or fails them until a restart.
describe.skipIf(skipped)(`an error that passes ${skipped ? howToInstall('redis-server') : ''}`, () => {
  let server: Service
  let other: Service
  let cluster: ClusterService
  let admin: Redis
  beforeAll(async () => {
    ;[server, other, cluster] = await Promise.all([startRedis(SLOW_LOADING), startRedis(), startRedisCluster()])
    admin = administrate(server.port)
  })
  afterAll(async () => {
    admin?.disconnect()
    await Promise.all([server?.stop(), other?.stop(), cluster?.stop()])
  })

  const replies = async (connection: Redis, code: string) =>
    Number(new RegExp(`errorstat_${code}:count=(\\d+)`).exec(await connection.info('errorstats'))?.[1] ?? 0)

  test('ioredis: READONLY, where the client leaves a server that is a replica', async () => {
    await admin.flushall()
    const client = new Redis({
      port: server.port,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
    })
    client.on('error', () => undefined)
    const limiter = createLimiter({
      name: 'leaving',
      limit: 10,
      window: '1h',
      store: redisStore(client, { guarded: false }),
    })
    try {
      await limiter.limit('k')
      await admin.replicaof('127.0.0.1', other.port)
      const failure = { code: 'ERR_STORE_UNAVAILABLE', message: expect.stringMatching(/READONLY|max retries/) }
      await expect(limiter.limit('k')).rejects.toMatchObject(failure)
      await admin.replicaof('NO', 'ONE')
      await waitFor('decisions to go on', async () => (await limiter.limit('k')).allowed)
    } finally {
      await admin.replicaof('NO', 'ONE')
      client.disconnect()
    }
  })

  for (const { name, single, cluster: openCluster } of clientKinds) {
    test(`${name}: READONLY, while the server is a replica for a moment`, async () => {
      await admin.flushall()
      const { client, close } = await single(server.port)
      const limiter = createLimiter({
        name: 'readonly',
        limit: 10,
        window: '1h',
        store: redisStore(client, { guarded: false }),
      })
      try {
        await limiter.limit('k')
        await admin.replicaof('127.0.0.1', other.port)
        const refused = await replies(admin, 'READONLY')
        const waiting = ['a', 'b', 'c', 'c'].map((key) => limiter.limit(key))
        await sleep(100)
        await admin.replicaof('NO', 'ONE')
        expect((await Promise.all(waiting)).map(({ used }) => used)).toEqual([1, 1, 1, 2])
        expect(await replies(admin, 'READONLY')).toBeGreaterThan(refused)
        // It remains an error where it does not pass.
        await admin.replicaof('127.0.0.1', other.port)
        const failure = { code: 'ERR_STORE_UNAVAILABLE', message: expect.stringContaining('READONLY') }
        await expect(limiter.limit('a')).rejects.toMatchObject(failure)
        await admin.replicaof('NO', 'ONE')
        expect(await limiter.limit('a')).toMatchObject({ allowed: true })
      } finally {
        await admin.replicaof('NO', 'ONE')
        close()
      }
    })

    test(`${name}: LOADING, while the server reads its data`, async () => {
      await admin.flushall()
      const { client, close } = await single(server.port)
      const limiter = createLimiter({
        name: 'loading',
        limit: 10,
        window: '1h',
        store: redisStore(client, { guarded: false }),
      })
      try {
        await limiter.limit('k')
        const fill = admin.pipeline()
        for (let i = 0; i < 300; i++) fill.set(`filler-${i}`, 'x'.repeat(100))
        await fill.exec()
        await admin.config('SET', 'key-load-delay', '500')
        const refused = await replies(admin, 'LOADING')
        const reloaded = admin.call('DEBUG', 'RELOAD')
        await sleep(50)
        expect(await limiter.limit('k')).toMatchObject({ used: 2 })
        await reloaded
        expect(await replies(admin, 'LOADING')).toBeGreaterThan(refused)
      } finally {
        await admin.config('SET', 'key-load-delay', '0')
        close()
      }
    })

    test(`${name}: CLUSTERDOWN, while a slot has no owner`, async () => {
      await cluster.flush()
      const { client, close } = await openCluster(cluster.nodes.map(({ port }) => port))
      const limiter = createLimiter({
        name: 'down',
        limit: 10,
        window: '1h',
        store: redisStore(client, { guarded: false }),
      })
      const node = cluster.nodes[1] as ClusterNode
      // Its own slot: one that another node owns would come back with that node's next message.
      const lost = String(node.firstSlot)
      const owns = (slot: string) => async () => String(await node.admin.cluster('INFO')).includes(slot)
      try {
        await limiter.limit('k')
        const refused = await cluster.errorReplies('CLUSTERDOWN')
        await node.admin.call('CLUSTER', 'DELSLOTS', lost)
        await waitFor('a cluster that is down', owns('cluster_state:fail'))
        const waiting = Array.from({ length: 5 }, () => limiter.limit('k'))
        await sleep(100)
        await node.admin.call('CLUSTER', 'ADDSLOTS', lost)
        expect((await Promise.all(waiting)).map(({ used }) => used).sort()).toEqual([2, 3, 4, 5, 6])
        expect(await cluster.errorReplies('CLUSTERDOWN')).toBeGreaterThan(refused)
      } finally {
        await node.admin.call('CLUSTER', 'ADDSLOTS', lost).catch(() => undefined)
        await waitFor('the cluster', owns('cluster_state:ok'))
        close()
      }
    })
  }
})
