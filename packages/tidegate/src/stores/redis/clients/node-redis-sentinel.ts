import type { Connection } from '../connection.ts'
import type { NodeRedisClient } from './node-redis.ts'
import { hasMethods } from './shape.ts'

/** What is used of a client that node-redis makes with `createSentinel`. */
export interface NodeRedisSentinel {
  _execute<T>(
    isReadonly: boolean | undefined,
    run: (client: Pick<NodeRedisClient, 'sendCommand'>) => Promise<T>,
  ): Promise<T>
  getMasterNode(): unknown
}

export function isNodeRedisSentinel(client: unknown): client is NodeRedisSentinel {
  return hasMethods(client, '_execute', 'getMasterNode')
}

/**
 * Its own `sendCommand` sends again, up to `maxCommandRediscovers` times, whatever failed while the primary
 * went away: also what a lost connection took, which may have run. `_execute` underneath does so with
 * every Error, so that one which must not be tried again is carried past it in a wrapping that is none.
 */
export function fromNodeRedisSentinel(client: NodeRedisSentinel): Connection {
  const send = async (command: string, args: string[]) => {
    try {
      return await client._execute(false, (node) => node.sendCommand([command, ...args]).catch(wrap))
    } catch (error) {
      throw error instanceof Wrapping ? error.content : error
    }
  }
  return { cluster: false, send }
}

class Wrapping {
  readonly content: unknown

  constructor(content: unknown) {
    this.content = content
  }
}

/** READONLY goes as it is: nothing was done, and it makes the client look for the new primary. */
function wrap(error: unknown): never {
  if (error instanceof Error && error.message.startsWith('READONLY')) throw error
  throw new Wrapping(error)
}
