import { setTimeout as sleep } from 'node:timers/promises'
import { createGate, createLimiter } from 'tidegate'
import { type GuardedStore, redisStore } from 'tidegate/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientKinds, type OpenClient } from './clients.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { administrate, startRedis } from './services/redis.ts'
import { type ClusterService, startRedisCluster } from './services/redis-cluster.ts'
import type { Service } from './services/service.ts'
import { waitFor } from './services/wait-for.ts'

const skipped = findPart('redis-server') === undefined
const LIMIT = { name: 'late', limit: 100, window: '1h' } as const
/** Longer than a slow machine takes to write what it is asked, and well above what the server is stopped for besides. */
const DEADLINE_MS = 300

async function within<T>({ client, close }: OpenClient, use: (store: GuardedStore) => Promise<T>): Promise<T> {
  const store = redisStore(client, { deadlineMs: DEADLINE_MS, breaker: { failures: 1000 } })
  try {
    return await use(store)
  } finally {
    await store.close()
    close()
  }
}

/** Asks a server that stands still, which goes on when nobody waits any more. @returns where the decisions came from */
async function askTooLate({ process }: Service, ask: () => Promise<{ source: string }>): Promise<string[]> {
  process.kill('SIGSTOP')
  try {
    return (await Promise.all(Array.from({ length: 5 }, ask))).map(({ source }) => source)
  } finally {
    await sleep(50)
    process.kill('SIGCONT')
  }
}

describe.skipIf(skipped)(`a script that runs late ${skipped ? howToInstall('redis-server') : ''}`, () => {
  let server: Service
  let cluster: ClusterService
  beforeAll(async () => {
    ;[server, cluster] = await Promise.all([startRedis(), startRedisCluster()])
  })
  afterAll(() => Promise.all([server?.stop('SIGKILL'), cluster?.stop()]))

  test.each(clientKinds)('$name: does nothing, also a reservation, and the next one counts', async ({ single }) => {
    const admin = administrate(server.port)
    await admin.flushall()
    await within(await single(server.port), async (store) => {
      const limiter = createLimiter({ ...LIMIT, store })
      const ready = async () => (await limiter.limit('k')).source === 'store'
      await waitFor('the store', ready)
      const { used } = await limiter.peek('k', { cost: 0 })
      const late = await askTooLate(server, () => limiter.limit('k'))
      const reserved = await askTooLate(server, () => limiter.reserve('k', { cost: 2 }))
      expect([...late, ...reserved]).toEqual(Array.from({ length: 10 }, () => 'local'))
      const answered = async () => (await limiter.peek('k', { cost: 0 })).source === 'store'
      await waitFor('the store', answered)
      expect(await limiter.limit('k')).toMatchObject({ source: 'store', used: used + 1 })
    })
    admin.disconnect()
  })

  test.each(clientKinds)(
    '$name, cluster: does nothing, and neither does a request over several slots',
    async ({ cluster: open }) => {
      await cluster.flush()
      // `k` lies on the second node, `a` on the third.
      const node = cluster.nodes[1]?.service as Service
      await within(await open(cluster.nodes.map(({ port }) => port)), async (store) => {
        const rules = [
          { name: 'one', key: ['one'], limit: 100, window: '1h' },
          { name: 'two', key: ['two'], limit: 100, window: '1h' },
        ]
        const gate = createGate({ rules, store })
        const request = { one: 'k', two: 'a' }
        await waitFor('the store', async () => (await gate.limit(request)).source === 'store')
        const figures = async () => (await gate.peek(request, { cost: 0 })).rules.map(({ used }) => used)
        const before = await figures()
        const late = await askTooLate(node, () => gate.limit(request))
        expect(late).toEqual(Array.from({ length: 5 }, () => 'local'))
        await waitFor('the store', async () => (await gate.peek(request, { cost: 0 })).source === 'store')
        expect(await figures()).toEqual(before)
      })
    },
  )
})
