import { memoryStore } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { remoteStore } from 'tidegate/remote'
import type { Clock, Store } from 'tidegate/store'
import { type ClientKind, glide, ioredis, iovalkey, nodeRedis } from './clients.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { administrate, type RedisPart, startServer } from './services/redis.ts'
import { startRedisCluster } from './services/redis-cluster.ts'
import { startStoreService } from './services/store-service.ts'

/** A store under test, driven by a clock of the test's own or, without one, by its own. */
export interface StoreUnderTest {
  /** A store with nothing in it. */
  open(clock?: Clock): Promise<Store>
  close(): Promise<void>
}

export interface StoreKind {
  readonly name: string
  /** Why it cannot be tested here; undefined where it can. */
  readonly skipped: string | undefined
  /** True where only keys of one hash slot can be decided together. */
  readonly cluster: boolean
  /** How many random steps of it `npm test` compares: every kind some, those with an engine of their own many. */
  readonly steps: number
  start(): Promise<StoreUnderTest>
}

/** Every store of one place. */
export const storeKinds: readonly StoreKind[] = [
  { name: 'memory', skipped: undefined, cluster: false, steps: 50_000, start: startMemory },
  single('Redis', 'redis-server', ioredis, 50_000),
  single('Redis', 'redis-server', iovalkey, 5_000),
  single('Redis', 'redis-server', nodeRedis, 10_000),
  single('Redis', 'redis-server', glide, 5_000),
  single('Valkey', 'valkey-server', iovalkey, 10_000),
  single('Valkey', 'valkey-server', glide, 5_000),
  behindService({ name: 'memory', skipped: undefined, cluster: false, steps: 0, start: startMemory }, 2_000),
  behindService(single('Redis', 'redis-server', ioredis, 0), 2_000),
]

/** Every store whose keys are spread over nodes by their hash slot. */
export const clusterKinds: readonly StoreKind[] = [
  cluster(ioredis, 10_000),
  cluster(iovalkey, 5_000),
  cluster(nodeRedis, 5_000),
  cluster(glide, 5_000),
]

/** `Redis through ioredis`, on a server of its own. */
function single(server: string, part: RedisPart, client: ClientKind, steps: number): StoreKind {
  const start = async () => {
    const service = await startServer(part)
    const admin = administrate(service.port)
    const opened = await client.single(service.port)
    return underTest(opened.client, {
      empty: () => admin.flushall(),
      stop: async () => {
        opened.close()
        admin.disconnect()
        await service.stop()
      },
    })
  }
  return { name: `${server} through ${client.name}`, skipped: without(part), cluster: false, steps, start }
}

/** `a service over memory`: the store of another kind, asked over HTTP on loopback. */
function behindService(inner: StoreKind, steps: number): StoreKind {
  const start = async () => {
    const under = await inner.start()
    const service = await startStoreService()
    return {
      open: async (clock?: Clock) => {
        const store = await under.open(clock)
        service.use(store)
        const time = clock === undefined ? {} : { clock }
        return remoteStore({ urls: [service.url], guarded: false, timeoutMs: 60_000, ...time })
      },
      close: async () => {
        await service.stop()
        await under.close()
      },
    }
  }
  return { ...inner, name: `a service over ${inner.name}`, steps, start }
}

/** `Redis Cluster through ioredis`, on three masters of its own. */
function cluster(client: ClientKind, steps: number): StoreKind {
  const start = async () => {
    const service = await startRedisCluster()
    const opened = await client.cluster(service.nodes.map(({ port }) => port))
    return underTest(opened.client, {
      empty: () => service.flush(),
      stop: async () => {
        opened.close()
        await service.stop()
      },
    })
  }
  const name = `Redis Cluster through ${client.name}`
  return { name, skipped: without('redis-server'), cluster: true, steps, start }
}

function without(part: RedisPart): string | undefined {
  return findPart(part) === undefined ? howToInstall(part) : undefined
}

async function startMemory(): Promise<StoreUnderTest> {
  return {
    open: async (clock) => memoryStore(clock === undefined ? {} : { clock }),
    close: async () => undefined,
  }
}

function underTest(
  client: Parameters<typeof redisStore>[0],
  { empty, stop }: { empty: () => Promise<unknown>; stop: () => Promise<void> },
): StoreUnderTest {
  return {
    open: async (clock) => {
      await empty()
      return redisStore(client, { guarded: false, ...(clock !== undefined && { clock }) })
    },
    close: stop,
  }
}
