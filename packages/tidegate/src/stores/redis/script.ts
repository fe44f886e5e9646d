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
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    return connection.send('EVAL', [script.source, ...words])
  })
}
