import type { Connection } from '../connection.ts'
import { hasMethods } from './shape.ts'

/** What is used of a client that node-redis makes with `createCluster`. */
export interface NodeRedisCluster {
  sendCommand(firstKey: string | undefined, isReadonly: boolean | undefined, args: string[]): Promise<unknown>
  readonly slots: readonly unknown[]
  readonly masters: readonly unknown[]
}

export function isNodeRedisCluster(client: unknown): client is NodeRedisCluster {
  const candidate = client as Partial<NodeRedisCluster> | null | undefined
  return hasMethods(client, 'sendCommand') && Array.isArray(candidate?.slots) && Array.isArray(candidate?.masters)
}

/** It sends again what a node has redirected (MOVED, ASK), never what a lost connection took. */
export function fromNodeRedisCluster(client: NodeRedisCluster): Connection {
  const send = async (command: string, args: string[], firstKey?: string) => {
    try {
      return await client.sendCommand(firstKey, false, [command, ...args])
    } catch (error) {
      throw lastRedirection(error)
    }
  }
  return { cluster: true, send }
}

/** It gives up redirections with an error of its own, whose cause is what the node said last. */
function lastRedirection(error: unknown): unknown {
  const { message, cause } = error as { message?: unknown; cause?: unknown }
  return message === 'Too many Cluster redirections' && cause !== undefined ? cause : error
}
