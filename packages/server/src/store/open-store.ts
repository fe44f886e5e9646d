import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { memoryStore, type Store } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { withoutPassword } from '../settings/redis-url.ts'

/** A store, and how to let go of it. */
export interface OpenStore {
  readonly store: Store
  close(): Promise<void>
}

/** Counts in the Redis at `url`, or in memory where there is none. Does not wait long for a Redis that is down. */
export async function openStore(url: string | null, logger: Logger): Promise<OpenStore> {
  if (url === null) {
    const store = memoryStore()
    return { store, close: () => store.close() }
  }
  const outages = outageLog(withoutPassword(url), logger)
  const client = new Redis(url, { ...clientOptions, reconnectOnError: leaveReplicas(outages) })
  // Without a listener an 'error' would end the process.
  client.on('error', (error: NodeJS.ErrnoException) => outages.down(error.message || error.code))
  client.on('reconnecting', () => outages.down('the connection was closed'))
  client.on('ready', () => outages.up())
  const store = redisStore(client)
  // Rejects when the first attempt fails; the client goes on trying, and the log says so.
  await client.connect().catch(() => undefined)
  return {
    store,
    close: async () => {
      await store.close()
      client.disconnect()
    },
  }
}

/**
 * A limiter would rather have an error now than an answer late, and never the same command twice:
 * nothing is queued while there is no connection, and what was sent when it broke is not sent again.
 */
const clientOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  // Milliseconds. Well above any answer of a Redis that works, below the patience of a gateway.
  commandTimeout: 1000,
  connectTimeout: 2000,
  retryStrategy: (attempt: number): number =>
    Math.min(50 * 2 ** Math.min(attempt, 6), 2000) * (0.5 + Math.random() / 2),
}

/** How often a replica is left at most; the name may lead to it still. Milliseconds. */
const REPLICA_MS = 1000

/** After a failover the old primary is read-only: connect anew, to where the name now leads. */
function leaveReplicas(outages: OutageLog): (error: Error) => boolean {
  let last = Number.NEGATIVE_INFINITY
  return (error) => {
    const now = performance.now()
    if (!error.message.startsWith('READONLY') || now - last < REPLICA_MS) return false
    last = now
    outages.readOnly()
    return true
  }
}

interface OutageLog {
  down(reason: string | undefined): void
  readOnly(): void
  up(): void
}

/** One line when Redis goes and one when it comes back; not one for each attempt between. */
function outageLog(url: string, logger: Logger): OutageLog {
  let state: 'new' | 'up' | 'down' | 'leaving a replica' = 'new'
  return {
    down: (reason) => {
      if (state === 'new' || state === 'up') {
        logger.warn({ url, reason }, 'Redis is not reachable; trying on')
        state = 'down'
      }
    },
    readOnly: () => {
      logger.warn({ url }, 'Redis is a read-only replica; connecting anew')
      state = 'leaving a replica'
    },
    up: () => {
      if (state === 'new') logger.info({ url }, 'connected to Redis')
      if (state === 'down') logger.info({ url }, 'Redis is back')
      state = 'up'
    },
  }
}
