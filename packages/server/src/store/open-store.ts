import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { memoryStore, type Observer, type Store } from 'tidegate'
import { type GuardOptions, redisStore } from 'tidegate/redis'
import { guard } from 'tidegate/store'
import { withoutPassword } from '../settings/redis-url.ts'
import { fallbackLog } from './fallback-log.ts'
import { type OutageLog, outageLog } from './outage-log.ts'
import { toldTogether } from './told-together.ts'
import { watchedStore } from './watched-store.ts'

/** How long decisions wait for Redis, and when it is not asked. */
export type StoreOptions = Omit<GuardOptions, 'observer'>

/** A store, and how to let go of it. */
export interface OpenStore {
  readonly store: Store
  close(): Promise<void>
}

/** Looks on while a store is asked. */
export interface StoreWatcher {
  /** The store itself, before anything is decided in its place; it is the same in everything that it answers. */
  observed(store: Store): Store
  /** Is told of what is decided in its place. */
  readonly observer: Observer
}

const NOBODY: StoreWatcher = { observed: (store) => store, observer: {} }

/**
 * Counts in the Redis at `url`, or in memory where there is none. Does not wait long for a Redis that is down.
 * @param options `null`: nothing is decided without Redis, whoever asks gets the error
 */
export async function openStore(
  url: string | null,
  logger: Logger,
  options: StoreOptions | null = {},
  watcher: StoreWatcher = NOBODY,
): Promise<OpenStore> {
  if (url === null) {
    const store = watcher.observed(memoryStore())
    return { store, close: () => store.close() }
  }
  const outages = outageLog(withoutPassword(url), logger)
  const client = new Redis(url, { ...clientOptions, reconnectOnError: leaveReplicas(outages) })
  leaveOtherDatabases(client)
  // Without a listener an 'error' would end the process.
  client.on('error', (error: NodeJS.ErrnoException) => {
    if (isRefusal(error)) outages.refused(refusalText(error))
    else if (isCut(error)) outages.closed()
    else outages.down(error.message || error.code)
  })
  client.on('reconnecting', () => outages.closed())
  client.on('ready', () => outages.up())
  const fallbacks = fallbackLog(logger)
  const observer = toldTogether(fallbacks.observer, watcher.observer)
  const { instances } = options ?? {}
  const bare = redisStore(client, { guarded: false, observer, ...(instances !== undefined && { instances }) })
  const watched = watcher.observed(watchedStore(bare, logger))
  const store = options === null ? watched : guard(watched, { ...options, observer })
  // Rejects when the first attempt fails; the client goes on trying, and the log says so.
  await client.connect().catch(() => undefined)
  return {
    store,
    close: async () => {
      fallbacks.close()
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

/**
 * Where the database of the URL cannot be selected, the client would emit an error and go on in database 0.
 * A connection that is cut here, before it is ready, has carried no decision; the next one tries again.
 */
function leaveOtherDatabases(client: Redis): void {
  const select = client.select.bind(client)
  client.select = async (...args) => {
    try {
      return await select(...args)
    } catch (error) {
      // Whatever the reason: an answer that comes too late may be a refusal as well.
      client.disconnect(true)
      throw error
    }
  }
}

/** An answer of Redis, as opposed to none. */
function isRefusal(error: Error): boolean {
  return error.name === 'ReplyError'
}

/** What the client asks of a connection that has been cut below; the reason came before. */
function isCut(error: Error): boolean {
  return error.message.startsWith("Stream isn't writeable")
}

function refusalText(error: Error): string {
  const { command } = error as Error & { command?: { name: string } }
  return command === undefined ? error.message : `${command.name.toUpperCase()}: ${error.message}`
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
