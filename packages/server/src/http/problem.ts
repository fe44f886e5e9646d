import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply } from 'fastify'
import { TidegateError } from 'tidegate'
import { ServiceError, type ServiceErrorCode, statusOfCode } from '../errors.ts'

/** A problem document (RFC 9457). `code` is what a program should look at. */
export interface Problem {
  /** `about:blank`: the title says no more than the status, `code` says which of them it is. */
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  /** The path to what was wrong, where it was the request's fault. */
  readonly field?: string
  /** What was expected there, in words. */
  readonly expected?: string
}

/**
 * Any error as a problem document. Nothing of an unforeseen error is shown but that there was one.
 * @param prefix where the faulty part stands in the body, e.g. `checks[1].`
 */
export function problemOf(error: unknown, prefix = ''): Problem {
  if (error instanceof TidegateError || error instanceof ServiceError) {
    const { code, field, expected, message } = atFault(error)
    const detail = field !== undefined && message.startsWith(field) ? `${prefix}${message}` : message
    const status = statusOfCode[code]
    // What the service was built with is no field of the request.
    if (status >= 500) return problem(code, status, message)
    const place = {
      ...(field !== undefined && { field: `${prefix}${field}` }),
      ...(expected !== undefined && { expected }),
    }
    return problem(code, status, detail, place)
  }
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>
  const known = FRAMEWORK_ERRORS[code]
  if (known !== undefined) return problem(known.code, statusOfCode[known.code], known.detail, known)
  if (statusCode >= 400 && statusCode < 500) return problemOfStatus(statusCode, (error as Error).message)
  return problem('ERR_INTERNAL', 500, 'a fault of the service; its log has the cause')
}

/** A request that could not be read, by the status that says how. */
export function problemOfStatus(status: number, detail: string): Problem {
  return problem('ERR_MALFORMED_REQUEST', status, detail)
}

/** Answers with a problem document. */
export function sendProblem(reply: FastifyReply, content: Problem): FastifyReply {
  if (content.status === 503) void reply.header('retry-after', '1')
  return reply.code(content.status).type('application/problem+json').send(JSON.stringify(content))
}

function problem(
  code: string,
  status: number,
  detail: string,
  place: { field?: string; expected?: string } = {},
): Problem {
  const { field, expected } = place
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    code,
    ...(field !== undefined && { field }),
    ...(expected !== undefined && { expected }),
  }
}

/** A state that cannot be read is the fault of what is stored under this descriptor; the message names rule and key. */
function atFault(error: TidegateError | ServiceError): TidegateError | ServiceError {
  if (!error.code.startsWith('ERR_STATE_')) return error
  const details = { field: 'descriptor', expected: 'one whose key in the store holds a state of this version' }
  return new TidegateError((error as TidegateError).code, error.message, details)
}

/** The errors of the framework that a request can cause, in our words. */
const FRAMEWORK_ERRORS: Record<string, { code: ServiceErrorCode; detail: string; field?: string; expected?: string }> =
  {
    FST_ERR_CTP_BODY_TOO_LARGE: {
      code: 'ERR_BODY_TOO_LARGE',
      detail: 'body: expected at most 65,536 bytes',
      field: 'body',
      expected: 'at most 65,536 bytes',
    },
    FST_ERR_CTP_INVALID_MEDIA_TYPE: {
      code: 'ERR_UNSUPPORTED_MEDIA_TYPE',
      detail: 'content-type: expected application/json',
      field: 'content-type',
      expected: 'application/json',
    },
    FST_ERR_BAD_URL: {
      code: 'ERR_MALFORMED_REQUEST',
      detail: 'the path holds a percent sign without two hexadecimal digits',
    },
  }
