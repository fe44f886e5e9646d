import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { memoryStore } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import type { Clock, Store } from 'tidegate/store'
import { findPart, howToInstall } from './services/parts.ts'
import { startRedis } from './services/redis.ts'

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
  start(): Promise<StoreUnderTest>
}

const withoutRedis = findPart('redis-server') === undefined ? howToInstall('redis-server') : undefined

/** Every store that the suite runs on. */
export const storeKinds: readonly StoreKind[] = [
  { name: 'memory', skipped: undefined, start: async () => startMemory() },
  { name: 'Redis through ioredis', skipped: withoutRedis, start: startIoredis },
  { name: 'Redis through node-redis', skipped: withoutRedis, start: startNodeRedis },
]

function startMemory(): StoreUnderTest {
  return {
    open: async (clock) => memoryStore(clock === undefined ? {} : { clock }),
    close: async () => undefined,
  }
}

async function startIoredis(): Promise<StoreUnderTest> {
  const server = await startRedis()
  const client = new Redis(server.port, '127.0.0.1', { autoResendUnfulfilledCommands: false })
  return {
    open: async (clock) => {
      await client.flushall()
      return redisStore(client, clock === undefined ? {} : { clock })
    },
    close: async () => {
      client.disconnect()
      await server.stop()
    },
  }
}

async function startNodeRedis(): Promise<StoreUnderTest> {
  const server = await startRedis()
  const client = createClient({ url: `redis://127.0.0.1:${server.port}` })
  await client.connect()
  return {
    open: async (clock) => {
      await client.flushAll()
      return redisStore(client, clock === undefined ? {} : { clock })
    },
    close: async () => {
      client.destroy()
      await server.stop()
    },
  }
}
