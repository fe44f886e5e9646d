import { Redis } from 'ioredis'
import { createLimiter, type Observer } from 'tidegate'
import { type GuardedStore, redisStore } from 'tidegate/redis'
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts'
import { administrate, startRedis } from '../services/redis.ts'
import type { Service } from '../services/service.ts'
import { waitFor } from '../services/wait-for.ts'
import { type Load, type LoadReport, startLoad } from './load.ts'

type StoreOptions = NonNullable<Parameters<typeof redisStore>[1]>

export interface RigOptions {
  /** Of the server. */
  readonly redis?: readonly string[]
  /** Whether the client connects past the proxy, which lives in this process. */
  readonly direct?: boolean
  readonly store?: Omit<StoreOptions, 'guarded' | 'observer'>
}

/** What an observer was told, by name. */
export type Told = { [Name in keyof Observer]-?: Parameters<NonNullable<Observer[Name]>>[0][] }

/** A limiter of one process, a proxy with the faults of a network, and a real Redis. */
export interface Rig {
  readonly server: Service
  readonly proxy: FaultProxy
  readonly admin: Redis
  readonly client: Redis
  readonly store: GuardedStore
  readonly told: Told
  /** Kills the server, and starts an empty one in its place. */
  restart(betweenMs: number): Promise<void>
  /** What Redis has counted, asked past the proxy. */
  used(): Promise<number>
  close(): Promise<void>
}

/** The limit of the load, which it does not reach. */
export const LIMIT = { name: 'chaos', limit: 1_000_000, window: '1h' } as const

export async function startRig({ redis = [], direct = false, store: options = {} }: RigOptions = {}): Promise<Rig> {
  let server = await startRedis(redis)
  const proxy = await startFaultProxy(server.port)
  const admin = administrate(server.port)
  const client = new Redis({
    host: '127.0.0.1',
    port: direct ? server.port : proxy.port,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: 1000,
    retryStrategy: () => 50,
  })
  client.on('error', () => undefined)
  await new Promise<void>((resolve) => client.once('ready', resolve))
  const told = listening()
  const store = redisStore(client, { ...options, observer: told.observer })
  const counting = createLimiter({ ...LIMIT, store: redisStore(admin, { guarded: false }) })
  return {
    get server() {
      return server
    },
    proxy,
    admin,
    client,
    store,
    told: told.told,
    restart: async (betweenMs) => {
      const { port } = server
      await server.stop('SIGKILL')
      await new Promise((resolve) => setTimeout(resolve, betweenMs))
      server = await startRedis(redis, port)
    },
    used: async () => (await counting.peek('k', { cost: 0 })).used,
    close: async () => {
      client.disconnect()
      admin.disconnect()
      await proxy.close()
      await server.stop('SIGKILL')
    },
  }
}

function listening(): { told: Told; observer: Observer } {
  const told: Told = {
    fallback: [],
    lateReply: [],
    breakerChange: [],
    storeError: [],
    lease: [],
    configRefusal: [],
    warning: [],
  }
  const observer: Observer = {
    fallback: (event) => told.fallback.push(event),
    lateReply: (event) => told.lateReply.push(event),
    breakerChange: (event) => told.breakerChange.push(event),
    storeError: (event) => told.storeError.push(event),
    configRefusal: (event) => told.configRefusal.push(event),
    warning: (event) => told.warning.push(event),
  }
  return { told, observer }
}

/** What three times of a fault have seen: before it, while it was, and after it until decisions came from the store again. */
export interface Phases {
  readonly before: LoadReport
  readonly during: LoadReport
  readonly after: LoadReport
  readonly all: readonly LoadReport[]
}

/** A load on one key, sound for a while, then with a fault, and on until the store decides again. */
export async function underFault(rig: Rig, fault: (load: Load) => Promise<void>, workers = 8): Promise<Phases> {
  const limiter = createLimiter({ ...LIMIT, store: rig.store })
  const load = startLoad(() => limiter.limit('k'), workers)
  try {
    await waitFor('an idle run', async () => (load.report.admitted['store'] ?? 0) >= 1000)
    const before = load.cut()
    await fault(load)
    const during = load.cut()
    await waitFor('decisions by the store again', async () => (load.report.admitted['store'] ?? 0) >= 200)
    const after = await load.end()
    return { before, during, after, all: [before, during, after] }
  } finally {
    await load.end()
  }
}

/** The waits of a run beside those of an idle one, for whoever reads the report: a machine that is shared cannot promise any. */
export function waits({ before, during, after }: Phases): string {
  const shown = ({ asked, p999, longest }: LoadReport) =>
    `p99.9 ${p999.toFixed(1)} ms, longest ${longest.toFixed(1)} ms of ${asked}`
  return `idle: ${shown(before)}; with the fault: ${shown(during)}; after it: ${shown(after)}`
}
