import type { ErrorCode } from 'tidegate'

/** Every error of the service itself, by code; docs/reference/service.md lists them, and a test compares the two. */
export const serviceErrorCodes = {
  ERR_INVALID_SETTING: 'A flag, or an environment variable, that does not exist or has a value that it cannot have.',
  ERR_CANNOT_LISTEN: 'The address or the port to listen on cannot be had.',
  ERR_INVALID_BODY: 'A request body of another shape than the endpoint takes.',
  ERR_MALFORMED_JSON: 'A request body that is not JSON.',
  ERR_NOT_UTF8: 'A request body with bytes that are not UTF-8.',
  ERR_BODY_TOO_LARGE: 'A request body of more than 65,536 bytes.',
  ERR_UNSUPPORTED_MEDIA_TYPE: 'A request body that is not declared as `application/json`, or that is compressed.',
  ERR_INVALID_QUERY: 'A query parameter that does not exist, or has a value that it cannot have.',
  ERR_AMBIGUOUS_REQUEST: 'Headers of a forward auth request that contradict each other, so that one of them is forged.',
  ERR_MALFORMED_REQUEST: 'A request that is not HTTP as this service reads it.',
  ERR_EXPECTATION_FAILED: 'An `Expect` header that asks for anything but `100-continue`.',
  ERR_NOT_FOUND: 'A path that does not exist.',
  ERR_METHOD_NOT_ALLOWED: 'A path that exists, asked with a method that it does not take.',
  ERR_UNAUTHORIZED: 'A request to administrate that bears no token, or none that is known.',
  ERR_FORBIDDEN: 'A request to administrate by somebody who may not.',
  ERR_OVERLOADED: 'More requests were under way than `--max-concurrent` allows.',
  ERR_DRAINING: 'The service is shutting down: it answers what it has and should be sent nothing new.',
  ERR_INTERNAL: 'A fault of the service. The log has the cause; the answer has not.',
} as const

export type ServiceErrorCode = keyof typeof serviceErrorCodes

/** What an error of the service carries besides its message. */
export interface ServiceErrorDetails {
  /** The path to what was wrong, e.g. `checks[1].cost`. */
  field?: string
  /** What was expected there, in words. */
  expected?: string
  cause?: unknown
}

/** The one error class of this package. `code` is stable; messages may improve. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ServiceErrorCode
  readonly field: string | undefined
  readonly expected: string | undefined

  constructor(code: ServiceErrorCode, message: string, details: ServiceErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.field = details.field
    this.expected = details.expected
  }
}

/**
 * The HTTP status of each error. A state that cannot be read is 409: the request is in conflict with
 * what is stored under its key, and neither repeating it nor waiting helps; another key is served.
 */
export const statusOfCode: Readonly<Record<ErrorCode | ServiceErrorCode, number>> = {
  ERR_INVALID_OPTION: 400,
  ERR_UNKNOWN_OPTION: 400,
  ERR_DUPLICATE_RULE: 400,
  ERR_INVALID_KEY: 400,
  ERR_INVALID_COST: 400,
  ERR_INVALID_LIMIT: 400,
  ERR_INVALID_DESCRIPTOR: 400,
  ERR_INVALID_CLOCK: 500,
  ERR_ALGORITHM_UNSUPPORTED: 400,
  ERR_SYNC_UNSUPPORTED: 500,
  ERR_TOO_MANY_WAITING: 503,
  ERR_TURN_TOO_LATE: 503,
  ERR_CLOSED: 503,
  ERR_CLIENT_UNSUPPORTED: 500,
  ERR_STATE_WRONG_TYPE: 409,
  ERR_STATE_UNREADABLE: 409,
  ERR_STORE_OVERLOADED: 503,
  ERR_STORE_UNAVAILABLE: 503,
  ERR_INVALID_SETTING: 500,
  ERR_CANNOT_LISTEN: 500,
  ERR_INVALID_BODY: 400,
  ERR_MALFORMED_JSON: 400,
  ERR_NOT_UTF8: 400,
  ERR_BODY_TOO_LARGE: 413,
  ERR_UNSUPPORTED_MEDIA_TYPE: 415,
  ERR_INVALID_QUERY: 400,
  ERR_AMBIGUOUS_REQUEST: 400,
  ERR_MALFORMED_REQUEST: 400,
  ERR_EXPECTATION_FAILED: 417,
  ERR_NOT_FOUND: 404,
  ERR_METHOD_NOT_ALLOWED: 405,
  ERR_UNAUTHORIZED: 401,
  ERR_FORBIDDEN: 403,
  ERR_OVERLOADED: 503,
  ERR_DRAINING: 503,
  ERR_INTERNAL: 500,
}
