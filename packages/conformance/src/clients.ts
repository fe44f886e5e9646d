import { GlideClient, GlideClusterClient, Logger } from '@valkey/valkey-glide'
import { Cluster, Redis } from 'ioredis'
import { Redis as Valkey, Cluster as ValkeyCluster } from 'iovalkey'
import { createClient, createCluster, createSentinel } from 'redis'
import type { RedisClient } from 'tidegate/redis'

/** A connected client under test, made as docs/guide/redis.md advises, and how to close it. */
export interface OpenClient {
  readonly client: RedisClient
  close(): void
}

/** A user of the server's ACL. */
export interface User {
  readonly username: string
  readonly password: string
}

/** How to reach one server, besides its port. */
export interface Access {
  readonly user?: User
  /** The certificate of the authority to trust, PEM; undefined for plain TCP. */
  readonly authority?: string
}

export interface Address {
  readonly host: string
  readonly port: number
}

/** A client family, and the topologies that it knows. */
export interface ClientKind {
  readonly name: string
  single(port: number, access?: Access): Promise<OpenClient>
  cluster(ports: readonly number[], user?: User): Promise<OpenClient>
  /** Undefined where the client knows no Sentinel. */
  readonly sentinel?: (sentinels: readonly Address[], name: string) => Promise<OpenClient>
}

const HOST = '127.0.0.1'
const addresses = (ports: readonly number[]) => ports.map((port) => ({ host: HOST, port }))
const none = () => undefined

Logger.init('error')

const unqueued = { enableOfflineQueue: false }
const connection = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 }
const clusterConnection = {
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  retryDelayOnTryAgain: 1,
  maxRedirections: 5,
}

/** ioredis and its fork take the same options, so that one description makes the clients of both. */
function ioredisKind(name: string, single: typeof Redis, cluster: typeof Cluster): ClientKind {
  const opened = async (client: Redis | Cluster) => {
    client.on('error', none)
    if (client.status !== 'ready') await new Promise<void>((resolve) => client.once('ready', resolve))
    return { client, close: () => client.disconnect() }
  }
  return {
    name,
    single: (port, { authority, user } = {}) => {
      const tls = authority === undefined ? {} : { tls: { ca: authority } }
      return opened(new single({ host: HOST, port, ...connection, ...unqueued, ...user, ...tls }))
    },
    cluster: (ports, user) => {
      const redisOptions = { ...connection, ...user }
      return opened(new cluster(addresses(ports), { ...clusterConnection, redisOptions }))
    },
    sentinel: (sentinels, name) =>
      opened(new single({ sentinels: [...sentinels], name, failoverDetector: true, ...connection, ...unqueued })),
  }
}

const nodeRedis: ClientKind = {
  name: 'node-redis',
  single: async (port, { authority, user } = {}) => {
    const tls = authority === undefined ? {} : { tls: true as const, ca: authority }
    const client = createClient({ disableOfflineQueue: true, ...user, socket: { host: HOST, port, ...tls } })
    await client.on('error', none).connect()
    return { client, close: () => client.destroy() }
  },
  cluster: async (ports, user) => {
    const rootNodes = addresses(ports).map((socket) => ({ socket, ...user }))
    const client = createCluster({ rootNodes, defaults: { ...user } })
    await client.on('error', none).connect()
    return { client, close: () => client.destroy() }
  },
  sentinel: async (sentinels, name) => {
    const client = createSentinel({ name, sentinelRootNodes: [...sentinels], scanInterval: 500 })
    await client.on('error', none).connect()
    return { client, close: () => void client.destroy() }
  },
}

const glide: ClientKind = {
  name: 'GLIDE',
  single: async (port, { authority, user } = {}) => {
    const credentials = user === undefined ? {} : { credentials: user }
    const trusted = { advancedConfiguration: { tlsAdvancedConfiguration: { rootCertificates: authority ?? '' } } }
    const tls = authority === undefined ? {} : { useTLS: true, ...trusted }
    const client = await GlideClient.createClient({
      addresses: addresses([port]),
      requestTimeout: 2000,
      ...credentials,
      ...tls,
    })
    return { client, close: () => client.close() }
  },
  cluster: async (ports, user) => {
    const credentials = user === undefined ? {} : { credentials: user }
    const options = { addresses: addresses(ports), requestTimeout: 2000, ...credentials }
    const client = await GlideClusterClient.createClient(options)
    return { client, close: () => client.close() }
  },
}

export const ioredis = ioredisKind('ioredis', Redis, Cluster)
export const iovalkey = ioredisKind('iovalkey', Valkey as never, ValkeyCluster as never)
export const clientKinds: readonly ClientKind[] = [ioredis, iovalkey, nodeRedis, glide]
export { glide, nodeRedis }
