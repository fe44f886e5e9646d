import type { Connection } from '../connection.ts'
import { hasMethods } from './shape.ts'

/** What is used of a client that node-redis (https://github.com/redis/node-redis) makes with `createClient`. */
export interface NodeRedisClient {
  sendCommand(args: string[]): Promise<unknown>
  readonly isReady: boolean
}

export function isNodeRedis(client: unknown): client is NodeRedisClient {
  return hasMethods(client, 'sendCommand', 'multi')
}

/** What a lost connection took is not sent again by node-redis, but rejected. */
export function fromNodeRedis(client: NodeRedisClient): Connection {
  return { cluster: false, send: (command, args) => client.sendCommand([command, ...args]) }
}
