/**
 * Every error that this package can throw, by code. A refusal is not among them: it is a value, a
 * `Decision` with `allowed: false`. docs/reference/errors.md explains each; a test compares the two.
 */
export const errorCodes = {
  ERR_INVALID_OPTION: 'An option, or a field of a rule, has a value that it cannot have.',
  ERR_UNKNOWN_OPTION: 'An option, or a field of a rule, that does not exist.',
  ERR_DUPLICATE_RULE: 'Two rules of one gate have the same name.',
  ERR_INVALID_KEY: 'A key, or the value of a dimension, that cannot name a counter.',
  ERR_INVALID_COST: 'A cost that is not a whole number from 0 to 4,294,967,295.',
  ERR_INVALID_LIMIT: 'A limit that came with a request, or from a function, and that its rule cannot have.',
  ERR_INVALID_DESCRIPTOR: 'A descriptor that is not an object of strings.',
  ERR_INVALID_CLOCK: 'The clock given to a store did not return whole milliseconds since the epoch.',
  ERR_ALGORITHM_UNSUPPORTED: 'An operation that the algorithm of this rule does not have.',
  ERR_SYNC_UNSUPPORTED: 'A synchronous call on a store that answers over a network.',
  ERR_TOO_MANY_WAITING: 'More requests were waiting in `acquire` than `maxWaiting` allows.',
  ERR_TURN_TOO_LATE: 'The turn of a request of `limitFetch` did not come within its `timeout`.',
  ERR_CLOSED: 'A call on a limiter, gate or store that has been closed.',
  ERR_CLIENT_UNSUPPORTED: 'The Redis client handed in is of no kind that is known here.',
  ERR_STATE_WRONG_TYPE: 'The Redis key of this limit holds another type of value. It was left alone.',
  ERR_STATE_UNREADABLE: 'The Redis key of this limit holds a string that this version cannot read. It was left alone.',
  ERR_STORE_OVERLOADED: 'More decisions were waiting for the store than `maxPending` allows.',
  ERR_STORE_UNAVAILABLE: 'The store did not answer, or answered with an error.',
} as const

export type ErrorCode = keyof typeof errorCodes

/** What an error carries besides its message. */
export interface ErrorDetails {
  /** The path to what was wrong, e.g. `rules[2].limit`. */
  field?: string
  /** What was expected there, in words. */
  expected?: string
  cause?: unknown
}

/**
 * The one error class of this package. `code` is stable; messages may improve.
 * `field` and `expected` are set where the caller's input was at fault.
 */
export class TidegateError extends Error {
  override readonly name = 'TidegateError'
  readonly code: ErrorCode
  readonly field: string | undefined
  readonly expected: string | undefined

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.field = details.field
    this.expected = details.expected
  }
}

/** The error for a value that is not what it must be: names the field, what was expected and what came. */
export function invalid(code: ErrorCode, field: string, expected: string, received: unknown): TidegateError {
  return new TidegateError(code, `${field}: expected ${expected}, received ${show(received)}`, { field, expected })
}

/** The path to a member: `rules[2].limit`, or, for a name that nobody would write, `rules[2]["…"]`. */
export function memberOf(field: string, name: string): string {
  if (!/^[\w.$-]{1,64}$/.test(name)) return `${field}[${show(name)}]`
  return field === '' ? name : `${field}.${name}`
}

/** The error for an option that does not exist: names the ones that do. */
export function unknownOption(field: string, known: readonly string[]): TidegateError {
  const expected = `one of ${known.join(', ')}`
  return new TidegateError('ERR_UNKNOWN_OPTION', `${field}: unknown option, expected ${expected}`, { field, expected })
}

const SHOWN_CHARACTERS = 40

function show(value: unknown): string {
  if (typeof value === 'string') {
    return value.length <= SHOWN_CHARACTERS
      ? JSON.stringify(value)
      : `${JSON.stringify(value.slice(0, SHOWN_CHARACTERS))}… (${value.length} characters)`
  }
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'function') return 'a function'
  return String(value)
}
