import { TidegateError } from '../../errors.ts'
import type { Rule } from '../../rule.ts'

/** The error of a client that has changed what the script replied. */
export function unexpectedReply(reply: unknown): TidegateError {
  const expected = 'a client that gives integer replies as numbers (ioredis: without stringNumbers)'
  const message = `Redis: expected ${expected}, received ${typeof reply} ${String(reply).slice(0, 40)}`
  return new TidegateError('ERR_CLIENT_UNSUPPORTED', message, { field: 'client', expected })
}

/** What the script says of one key that it could not decide by, or not write. */
export function stateFailure(text: string, rule: Rule, key: string): TidegateError {
  const known = stateError(text, rule, key)
  if (known !== undefined) return known
  return new TidegateError(
    'ERR_STORE_UNAVAILABLE',
    `Redis: the key ${key} of rule ${rule.name} was not decided: ${text}`,
  )
}

/** The error of a key whose state is none that this rule can use; undefined where it is another error. */
export function stateError(error: unknown, rule: Rule, key: string): TidegateError | undefined {
  const text = String(typeof error === 'string' ? error : (error as { message?: unknown } | null)?.message)
  const where = `Redis: the key ${key}${text.includes('(its reservations)') ? ':reserved' : ''} of rule ${rule.name}`
  if (/\bWRONGTYPE\b/.test(text)) {
    return new TidegateError('ERR_STATE_WRONG_TYPE', `${where} holds another type of value; it was left alone`)
  }
  if (/\bUNREADABLE\b/.test(text)) {
    return new TidegateError('ERR_STATE_UNREADABLE', `${where} holds what this version cannot read; it was left alone`)
  }
  return undefined
}
