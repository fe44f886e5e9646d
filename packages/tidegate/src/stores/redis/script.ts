import type { Connection } from './connection.ts'
import { replyCode } from './retry.ts'

/** A script of the generated file. */
export interface Script {
  readonly sha1: string
  readonly source: string
}

/**
 * Runs a script by its SHA-1. A server that does not know it (new, restarted, failed over, SCRIPT
 * FLUSH, the target of a slot's migration) has done nothing, so the script is sent whole, once, which also loads it
 * again. Any other error may mean that the script has run.
 * @param words `numkeys`, the keys, and the arguments
 */
export function runScript(connection: Connection, script: Script, words: string[]): Promise<unknown> {
  const [, firstKey] = words
  return connection.send('EVALSHA', [script.sha1, ...words], firstKey).catch((error: unknown) => {
    if (replyCode(error) !== 'NOSCRIPT') throw error
    return connection.send('EVAL', [script.source, ...words], firstKey)
  })
}
