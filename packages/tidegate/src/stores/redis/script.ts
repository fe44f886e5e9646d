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
export function runScript(connection: Connection, script: Script, words: string[]): Promise<unknown> {
  return connection.send('EVALSHA', [script.sha1, ...words]).catch((error: unknown) => {
    if (!isUnknownScript(error)) throw error
    return connection.send('EVAL', [script.source, ...words])
  })
}

/** By its message alone: the client's Error need not be this realm's. Any other error may mean that the script has run. */
function isUnknownScript(error: unknown): boolean {
  return String((error as { message?: unknown } | null)?.message).startsWith('NOSCRIPT')
}
