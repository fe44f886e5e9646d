import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ServiceError } from '../errors.ts'

/** The most bytes of a request body. */
export const BODY_LIMIT = 65_536

/**
 * Takes `application/json` alone, and as bytes: they are read when the request is handled, so that
 * an error in them is the error of that request and does not cost its connection.
 */
export function acceptJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  server.addHook('onRequest', ({ headers }, _reply, done) => {
    const encoding = headers['content-encoding']
    done(encoding === undefined || encoding === 'identity' ? undefined : compressedBody())
  })
}

function compressedBody(): ServiceError {
  const expected = 'a body that is not compressed'
  return new ServiceError('ERR_UNSUPPORTED_MEDIA_TYPE', `content-encoding: expected ${expected}`, {
    field: 'content-encoding',
    expected,
  })
}

/** Takes any content type: clients of envoyproxy/ratelimit, curl among them, declare none or a wrong one. */
export function acceptAnyText(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/**
 * The body of a request, as what the schema makes of it. A key that stands there twice has its last value.
 * @throws ServiceError `ERR_NOT_UTF8`, `ERR_MALFORMED_JSON`, `ERR_INVALID_BODY`
 */
export function readBody<Schema extends z.ZodType>(request: FastifyRequest, schema: Schema): z.output<Schema> {
  return readShape(parseJson(request.body), schema)
}

/**
 * A value as what the schema makes of it. The schema's messages say what was expected.
 * @throws ServiceError `ERR_INVALID_BODY`, naming the first field that is wrong
 */
export function readShape<Schema extends z.ZodType>(value: unknown, schema: Schema): z.output<Schema> {
  const { success, data, error } = schema.safeParse(value)
  if (success) return data
  const [issue] = error.issues as [z.core.$ZodIssue]
  const [unknownKey] = issue.code === 'unrecognized_keys' ? issue.keys : []
  const field = [...issue.path, ...(unknownKey === undefined ? [] : [unknownKey])].join('.') || 'body'
  const found = unknownKey === undefined ? '' : '; there is no such field'
  throw new ServiceError('ERR_INVALID_BODY', `${field}: expected ${issue.message}${found}`, {
    field,
    expected: issue.message,
  })
}

/** A schema of an object's shape, whose message names the fields. */
export function shapeOf<Shape extends z.ZodRawShape>(shape: Shape) {
  const fields = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? `one of ${fields}` : `an object with ${fields}`),
  })
}

/**
 * The body of a request, as an object of these fields, whatever they hold. What most requests are is seen here; the schema is
 * asked of the rest, because its errors say what is wrong and it takes longer than a decision.
 * @param fields those of the schema, all of them optional and of any type
 * @throws ServiceError `ERR_NOT_UTF8`, `ERR_MALFORMED_JSON`, `ERR_INVALID_BODY`
 */
export function readFields<Schema extends z.ZodType>(
  request: FastifyRequest,
  fields: ReadonlySet<string>,
  schema: Schema,
): z.output<Schema> {
  const value = parseJson(request.body)
  return hasOnly(value, fields) ? (value as z.output<Schema>) : readShape(value, schema)
}

function hasOnly(value: unknown, fields: ReadonlySet<string>): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  for (const name in value) if (!fields.has(name)) return false
  return true
}

/**
 * The value of a body.
 * @throws ServiceError `ERR_NOT_UTF8`, `ERR_MALFORMED_JSON`
 */
export function parseJson(body: unknown): unknown {
  const text = decodeText(body)
  try {
    return JSON.parse(text)
  } catch {
    const expected = 'a JSON text'
    throw new ServiceError('ERR_MALFORMED_JSON', `body: expected ${expected}`, { field: 'body', expected })
  }
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Strict: a decoder that replaces what it cannot read would count two users as one.
 * @throws ServiceError `ERR_NOT_UTF8`
 */
export function decodeText(body: unknown): string {
  const bytes = body instanceof Uint8Array ? body : new Uint8Array()
  try {
    return strictDecoder.decode(bytes)
  } catch (cause) {
    const expected = 'UTF-8'
    throw new ServiceError('ERR_NOT_UTF8', `body: expected ${expected}`, { field: 'body', expected, cause })
  }
}
