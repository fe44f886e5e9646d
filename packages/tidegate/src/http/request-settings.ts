import { MAX_COUNT } from '../decision.ts'
import { parseDuration } from '../duration.ts'
import { invalid } from '../errors.ts'
import { limitFields } from '../limit.ts'
import { checkFields, checkInteger, checkPattern } from '../options.ts'
import type { HeaderOptions } from './headers.ts'
import { limitsFields, type RequestLimitOptions, requestFields } from './request-options.ts'
import { compileTrust, type Trust } from './trust.ts'

/** The options of an HTTP limiter that need reading. */
export interface RequestSettings {
  readonly headers: Pick<HeaderOptions, 'standardHeaders' | 'legacyHeaders'>
  readonly jitterMs: number
  readonly onStoreError: 'deny' | 'allow' | 'error'
  readonly bypassHeader: string | undefined
  /** Undefined: the framework's own idea of the client's address is taken. */
  readonly trust: Trust | undefined
  readonly ipv6Prefix: number
  readonly fixedCost: number | undefined
}

const FUNCTIONS = ['keyGenerator', 'descriptor', 'skip', 'requestWasSuccessful', 'onLimited'] as const
const FLAGS = ['skipSuccessfulRequests', 'skipFailedRequests'] as const
const STANDARD_HEADERS = ['draft-6', 'draft-7', 'draft-8', false] as const
const LEGACY_HEADERS = ['epoch', 'delta', true, false] as const
const ON_STORE_ERROR = ['deny', 'allow', 'error'] as const
/** A field name of HTTP (RFC 9110). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/

/**
 * Checks the options of an HTTP limiter, those that say what is limited aside.
 * @param more the fields that an adapter has besides
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function compileSettings(options: unknown, more: readonly string[]): RequestSettings {
  const known = [...limitFields, ...limitsFields, ...requestFields, ...more]
  const fields = checkFields(options, 'options', known) as RequestLimitOptions<unknown, unknown>
  for (const name of FUNCTIONS) {
    const value: unknown = fields[name]
    if (value !== undefined && typeof value !== 'function')
      throw invalid('ERR_INVALID_OPTION', name, 'a function', value)
  }
  for (const name of FLAGS) oneOf(fields[name], name, [true, false])
  const { cost, jitter, bypassHeader, trustProxy, ipv6Prefix = 64, warn } = fields
  if (warn !== undefined && warn !== false && typeof warn !== 'function') {
    throw invalid('ERR_INVALID_OPTION', 'warn', 'a function, or false', warn)
  }
  const legacy = oneOf(fields.legacyHeaders, 'legacyHeaders', LEGACY_HEADERS) ?? false
  return {
    headers: {
      standardHeaders: oneOf(fields.standardHeaders, 'standardHeaders', STANDARD_HEADERS) ?? 'draft-8',
      legacyHeaders: legacy === true ? 'epoch' : legacy,
    },
    jitterMs: jitter === undefined ? 0 : parseDuration(jitter, 'jitter'),
    onStoreError: oneOf(fields.onStoreError, 'onStoreError', ON_STORE_ERROR) ?? 'deny',
    bypassHeader:
      bypassHeader === undefined
        ? undefined
        : checkPattern(bypassHeader, 'bypassHeader', HEADER_NAME, 'the name of a header'),
    trust: trustProxy === undefined ? undefined : compileTrust(trustProxy, 'trustProxy'),
    ipv6Prefix: checkInteger(ipv6Prefix, 'ipv6Prefix', 1, 128),
    fixedCost: typeof cost === 'function' ? undefined : checkInteger(cost ?? 1, 'cost', 0, MAX_COUNT),
  }
}

function oneOf<Value>(value: unknown, field: string, values: readonly Value[]): Value | undefined {
  if (value === undefined) return undefined
  const found = values.find((one) => one === value)
  if (found !== undefined) return found
  throw invalid('ERR_INVALID_OPTION', field, `one of ${values.map(String).join(', ')}`, value)
}
