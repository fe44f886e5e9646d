import { TidegateError } from '../../../errors.ts'
import { type Warn, warnOnce } from '../../../warning.ts'
import type { Connection } from '../connection.ts'
import { fromGlide, type GlideClient, isGlide } from './glide.ts'
import { fromIoredis, type IoredisClient, isIoredis } from './ioredis.ts'
import { fromNodeRedis, isNodeRedis, type NodeRedisClient } from './node-redis.ts'
import { fromNodeRedisCluster, isNodeRedisCluster, type NodeRedisCluster } from './node-redis-cluster.ts'
import { fromNodeRedisSentinel, isNodeRedisSentinel, type NodeRedisSentinel } from './node-redis-sentinel.ts'

/** A client of any known kind, connected by whoever hands it in, and closed by them too. */
export type RedisClient = IoredisClient | NodeRedisClient | NodeRedisCluster | NodeRedisSentinel | GlideClient

const EXPECTED = 'a client made by ioredis, iovalkey, node-redis or @valkey/valkey-glide'

/**
 * Finds out by its shape which client was handed in.
 * @param warn is told of settings with which decisions would be counted twice or never answered
 * @throws TidegateError `ERR_CLIENT_UNSUPPORTED`
 */
export function connect(client: unknown, warn: Warn = warnOnce): Connection {
  if (isIoredis(client)) return fromIoredis(client, warn)
  if (isNodeRedisCluster(client)) return fromNodeRedisCluster(client)
  if (isNodeRedisSentinel(client)) return fromNodeRedisSentinel(client)
  if (isNodeRedis(client)) return fromNodeRedis(client)
  if (isGlide(client)) return fromGlide(client)
  const message = `client: expected ${EXPECTED}, received ${describe(client)}`
  throw new TidegateError('ERR_CLIENT_UNSUPPORTED', message, { field: 'client', expected: EXPECTED })
}

/** What was handed in, without its contents: a URL may hold a password. */
function describe(client: unknown): string {
  if (client === null || client === undefined) return String(client)
  if (client instanceof Promise) return 'a promise: await it'
  const name = Object.getPrototypeOf(client)?.constructor?.name
  return `${typeof client === 'object' ? 'an' : 'a'} ${typeof client}${typeof client === 'object' && name ? ` (${name})` : ''}`
}
