import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** What a token allows: `write` allows reading too. */
export type Scope = 'read' | 'write'

/** The bearer tokens of the administration. */
export interface Tokens {
  /** True where there are none: then this machine itself is the only one that may administrate. */
  readonly isEmpty: boolean
  /** What a token allows; undefined for one that is not known. */
  scopeOf(token: string): Scope | undefined
}

/** A token shorter than this can be guessed. */
const LEAST_CHARACTERS = 16
const ENTRY = new RegExp(`^(read|write):([A-Za-z0-9._~+/=-]{${LEAST_CHARACTERS},})$`)

/**
 * The tokens of a list such as `read:…,write:…`, or of a file with one of these on each line; undefined where it is neither.
 * Empty lines and those that begin with `#` are passed by.
 */
export function readTokens(text: string): Tokens | undefined {
  if (text === '') return tokensOf([])
  const isList = /^(?:read|write):/.test(text)
  const entries = isList ? text.split(',') : linesOf(text)
  const parsed = entries?.map((entry) => ENTRY.exec(entry.trim()))
  if (parsed === undefined || parsed.length === 0 || !parsed.every((match) => match !== null)) return undefined
  return tokensOf(parsed.map(([, scope, token]) => ({ scope: scope as Scope, digest: digestOf(token as string) })))
}

function linesOf(file: string): string[] | undefined {
  try {
    const lines = readFileSync(file, 'utf8').split('\n')
    return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  } catch {
    return undefined
  }
}

interface Token {
  readonly scope: Scope
  readonly digest: Buffer
}

function tokensOf(tokens: readonly Token[]): Tokens {
  return {
    isEmpty: tokens.length === 0,
    scopeOf: (token) => {
      const digest = digestOf(token)
      // All are compared, each in constant time: how long it takes says nothing of how near a guess was.
      const fitting = tokens.filter((one) => timingSafeEqual(one.digest, digest))
      return fitting.some(({ scope }) => scope === 'write') ? 'write' : fitting[0]?.scope
    },
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
