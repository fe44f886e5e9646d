import type { Connection } from '../connection.ts'
import { hasMethods } from './shape.ts'
import { warnOnce } from './warning.ts'

/** The settings of a connection that matter here, as ioredis and iovalkey name them. */
interface ConnectionSettings {
  readonly autoResendUnfulfilledCommands?: boolean | undefined
}

/** What is looked at in the options of a `Redis` or a `Cluster`. */
interface Settings extends ConnectionSettings {
  /** Of a Cluster: milliseconds until a command that a lost connection took is sent again; 0 for never. Default: 100. */
  readonly retryDelayOnFailover?: number | undefined
  /** Of a Cluster: whether the connection to a node is made anew. Default: it is not, but dropped. */
  readonly clusterNodeRetryStrategy?: unknown
  readonly redisOptions?: ConnectionSettings | undefined
}

/**
 * What is used of a client of ioredis (https://github.com/redis/ioredis) or of iovalkey, its fork for Valkey:
 * `Redis`, for one node or through Sentinel, and `Cluster`.
 */
export interface IoredisClient {
  call(command: string, args: string[]): Promise<unknown>
  readonly options?: Settings
  readonly isCluster?: boolean
}

export function isIoredis(client: unknown): client is IoredisClient {
  return hasMethods(client, 'call', 'defineCommand')
}

/** A Cluster finds the node by itself: it knows where the keys of EVALSHA stand. */
export function fromIoredis(client: IoredisClient): Connection {
  const cluster = client.isCluster === true
  warnOfResending(client.options ?? {}, cluster)
  return { cluster, send: (command, args) => client.call(command, args) }
}

/** A command that is sent again after a lost connection may have run before: it then counts twice. */
function warnOfResending(settings: Settings, cluster: boolean): void {
  const option = cluster
    ? clusterOption(settings)
    : resends(settings)
      ? 'autoResendUnfulfilledCommands: false'
      : undefined
  if (option === undefined) return
  const text =
    'ioredis (or iovalkey) sends commands again after a broken connection, so that decisions in flight are counted twice; ' +
    `make the ${cluster ? 'Cluster' : 'client'} with ${option}`
  warnOnce('TIDEGATE_CLIENT_RESENDS', text)
}

/** The option that keeps a Cluster from sending again; undefined where it does not. */
function clusterOption(settings: Settings): string | undefined {
  if (settings.retryDelayOnFailover !== 0) return 'retryDelayOnFailover: 0'
  const renews = typeof settings.clusterNodeRetryStrategy === 'function'
  return renews && resends(settings.redisOptions) ? 'redisOptions: { autoResendUnfulfilledCommands: false }' : undefined
}

function resends(settings: ConnectionSettings | undefined): boolean {
  return settings?.autoResendUnfulfilledCommands !== false
}
