import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** What a token allows: `store` to count by rules of its own, and nothing else; `write` everything. */
export const SCOPES = ['read', 'write', 'store'] as const
export type Scope = (typeof SCOPES)[number]

/** The bearer tokens of the administration. */
export interface Tokens {
  /** True where there are none: then this machine itself is the only one that may administrate. */
  readonly isEmpty: boolean
  /** What a token allows; nothing of one that is not known. */
  scopesOf(token: string): readonly Scope[]
}

/** A token shorter than this can be guessed. */
const LEAST_CHARACTERS = 16
const ENTRY = new RegExp(`^(${SCOPES.join('|')}):([A-Za-z0-9._~+/=-]{${LEAST_CHARACTERS},})$`)

/**
 * The tokens of a list such as `read:…,write:…`, or of a file with one of these on each line; undefined where it is neither.
 * Empty lines and those that begin with `#` are passed by.
 */
export function readTokens(text: string): Tokens | undefined {
  if (text === '') return tokensOf([])
  const isList = new RegExp(`^(?:${SCOPES.join('|')}):`).test(text)
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
    scopesOf: (token) => {
      const digest = digestOf(token)
      // All are compared, each in constant time: how long it takes says nothing of how near a guess was.
      const fitting = tokens.filter((one) => timingSafeEqual(one.digest, digest))
      return fitting.some(({ scope }) => scope === 'write') ? SCOPES : fitting.map(({ scope }) => scope)
    },
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
