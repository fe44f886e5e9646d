import { TidegateError } from '../../errors.ts'

/** The one thing the store asks of a client: send a command whose keys are known, and give back the raw reply. */
export interface Connection {
  /** `['EVALSHA', sha1, numkeys, ...keys, ...args]`, `['DEL', key]`, `['PING']` */
  send(command: string, args: string[]): Promise<unknown>
}

/** What is used of an ioredis client (https://github.com/redis/ioredis). */
export interface IoredisClient {
  call(command: string, args: string[]): Promise<unknown>
  readonly options?: { readonly autoResendUnfulfilledCommands?: boolean | undefined }
  readonly isCluster?: boolean
}

/** What is used of a node-redis client (https://github.com/redis/node-redis). */
export interface NodeRedisClient {
  sendCommand(args: string[]): Promise<unknown>
  readonly isReady: boolean
}

/** A client of either kind, connected by whoever hands it in, and closed by them too. */
export type RedisClient = IoredisClient | NodeRedisClient

/**
 * Finds out by its shape which client was handed in.
 * @throws TidegateError `ERR_CLIENT_UNSUPPORTED`
 */
export function connect(client: unknown): Connection {
  if (isCluster(client)) {
    throw unsupported('a client of a single Redis node; a Redis Cluster client is not supported yet')
  }
  if (isIoredis(client)) return fromIoredis(client)
  if (isNodeRedis(client)) return fromNodeRedis(client)
  throw unsupported('a client made by ioredis or by node-redis')
}

function fromIoredis(client: IoredisClient): Connection {
  if (client.options?.autoResendUnfulfilledCommands !== false) warnOfResending()
  return { send: (command, args) => client.call(command, args) }
}

function fromNodeRedis(client: NodeRedisClient): Connection {
  return { send: (command, args) => client.sendCommand([command, ...args]) }
}

function isIoredis(client: unknown): client is IoredisClient {
  return hasFunction(client, 'call') && hasFunction(client, 'defineCommand')
}

function isNodeRedis(client: unknown): client is NodeRedisClient {
  return hasFunction(client, 'sendCommand') && hasFunction(client, 'multi')
}

function isCluster(client: unknown): boolean {
  const candidate = client as { isCluster?: boolean; slots?: unknown; masters?: unknown } | null | undefined
  return candidate?.isCluster === true || (Array.isArray(candidate?.slots) && Array.isArray(candidate?.masters))
}

function hasFunction(value: unknown, name: string): boolean {
  return typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function'
}

function unsupported(expected: string): TidegateError {
  return new TidegateError('ERR_CLIENT_UNSUPPORTED', `client: expected ${expected}`, { field: 'client', expected })
}

declare const process: { emitWarning?: (text: string, options: { code: string }) => void } | undefined

let warned = false

/** Once for a process. A command that is sent again after a broken connection may have run before: it then counts twice. */
function warnOfResending(): void {
  if (warned || typeof process !== 'object') return
  warned = true
  const text =
    'ioredis sends commands again after a broken connection, so that decisions in flight are counted twice; ' +
    'make the client with autoResendUnfulfilledCommands: false'
  process.emitWarning?.(text, { code: 'TIDEGATE_CLIENT_RESENDS' })
}
