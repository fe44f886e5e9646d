import type { WarningEvent } from '../../../observer.ts'
import type { Warn } from '../../../warning.ts'
import type { Connection } from '../connection.ts'
import { hasMethods } from './shape.ts'

/** The settings of a connection that matter here, as ioredis and iovalkey name them. */
interface ConnectionSettings {
  readonly autoResendUnfulfilledCommands?: boolean | undefined
  readonly maxRetriesPerRequest?: number | null | undefined
  /** Milliseconds. */
  readonly commandTimeout?: number | undefined
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

/** A Cluster finds the node by itself: it knows where the keys of `evalsha` stand, and iovalkey in small letters only. */
export function fromIoredis(client: IoredisClient, warn: Warn): Connection {
  const cluster = client.isCluster === true
  const settings = client.options ?? {}
  if (cluster) checkCluster(settings, warn)
  else checkConnection(settings, warn)
  return { cluster, send: (command, args) => client.call(command.toLowerCase(), args) }
}

function checkConnection(settings: ConnectionSettings, warn: Warn): void {
  if (resends(settings)) warn(resending('client', 'autoResendUnfulfilledCommands: false'))
  else if (forgets(settings)) warn(FORGETTING)
}

/** A Cluster drops the connections that it loses and rejects what they took, unless it is told to renew them. */
function checkCluster(settings: Settings, warn: Warn): void {
  const renews = typeof settings.clusterNodeRetryStrategy === 'function'
  if (settings.retryDelayOnFailover !== 0) warn(resending('Cluster', 'retryDelayOnFailover: 0'))
  else if (renews && resends(settings.redisOptions)) {
    warn(resending('Cluster', 'redisOptions: { autoResendUnfulfilledCommands: false }'))
  }
}

function resends(settings: ConnectionSettings | undefined): boolean {
  return settings?.autoResendUnfulfilledCommands !== false
}

/** A lost connection's commands are rejected after so many attempts to connect, and otherwise never settled. */
function forgets({ maxRetriesPerRequest, commandTimeout }: ConnectionSettings): boolean {
  return maxRetriesPerRequest !== 0 && !(typeof commandTimeout === 'number' && commandTimeout > 0)
}

/** A command that is sent again after a lost connection may have run before: it then counts twice. */
function resending(what: 'client' | 'Cluster', option: string): WarningEvent {
  const message =
    'ioredis (or iovalkey) sends commands again after a broken connection, so that decisions in flight are counted twice; ' +
    `make the ${what} with ${option}`
  return { code: 'TIDEGATE_CLIENT_RESENDS', message }
}

const FORGETTING: WarningEvent = {
  code: 'TIDEGATE_CLIENT_FORGETS',
  message:
    'ioredis (or iovalkey) neither sends again nor rejects what a broken connection took, so that decisions in flight ' +
    'are never answered; make the client with maxRetriesPerRequest: 0, or with a commandTimeout',
}
