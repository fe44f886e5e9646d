import type { Connection } from '../connection.ts'
import { hasMethods } from './shape.ts'

/** What is used of a `GlideClient` or a `GlideClusterClient` (https://github.com/valkey-io/valkey-glide). */
export interface GlideClient {
  customCommand(args: string[], options?: { decoder?: number }): Promise<unknown>
}

export function isGlide(client: unknown): client is GlideClient {
  return hasMethods(client, 'customCommand', 'exec')
}

/** GLIDE's `Decoder.String`, whatever the client's `defaultDecoder`. */
const STRING_DECODER = 1

/**
 * A cluster client finds the node by itself: it knows where the keys of EVALSHA stand. TRYAGAIN it tries again with
 * pauses that double, until `requestTimeout` is over and the error is no longer told from a lost answer.
 */
export function fromGlide(client: GlideClient): Connection {
  const send = async (command: string, args: string[]) => {
    try {
      return await client.customCommand([command, ...args], { decoder: STRING_DECODER })
    } catch (error) {
      throw asReplied(error)
    }
  }
  return { cluster: hasMethods(client, 'fcallWithRoute'), keysApart: true, send }
}

/** GLIDE names the codes of error replies its own way: `An error was signalled by the server: - NoScriptError: …`. */
const SIGNALLED = /^An error was signalled by the server: - (\w+): /

const CODES: Record<string, string> = {
  NoScriptError: 'NOSCRIPT',
  ReadOnly: 'READONLY',
  BusyLoadingError: 'LOADING',
  TryAgain: 'TRYAGAIN',
  ClusterDown: 'CLUSTERDOWN',
  MasterDown: 'MASTERDOWN',
  Moved: 'MOVED',
  Ask: 'ASK',
  PermissionDenied: 'NOPERM',
  CrossSlot: 'CROSSSLOT',
  ResponseError: 'ERR',
}

/** The error with the message that the server sent; GLIDE's own as its cause. */
function asReplied(error: unknown): unknown {
  const message = String((error as { message?: unknown } | null)?.message)
  const [beginning, name = ''] = SIGNALLED.exec(message) ?? []
  const code = CODES[name]
  if (beginning === undefined || code === undefined) return error
  return new Error(`${code} ${message.slice(beginning.length)}`, { cause: error })
}
