import type { Connection } from './connection.ts'

/** A script of the generated file. */
export interface Script {
  readonly sha1: string
  readonly source: string
}

/**
 * Runs a script by its SHA-1. A server that does not know it (new, restarted, failed over, SCRIPT
 * FLUSH) has done nothing, so the script is sent whole, once, which also loads it again.
 */
export async function runScript(
  connection: Connection,
  script: Script,
  keys: string[],
  args: string[],
): Promise<unknown> {
  const rest = [String(keys.length), ...keys, ...args]
  try {
    return await connection.send(['EVALSHA', script.sha1, ...rest])
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    return connection.send(['EVAL', script.source, ...rest])
  }
}
