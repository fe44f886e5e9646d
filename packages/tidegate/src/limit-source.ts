import { MAX_COUNT } from './decision.ts'
import { type Descriptor, valueIn } from './descriptor.ts'
import { invalid, memberOf, TidegateError } from './errors.ts'
import { checkKey } from './key.ts'
import { checkFields, checkInteger } from './options.ts'
import { parseCount } from './request.ts'

/** A limit that requests bring themselves: the value of a dimension, or `default` for requests without it. */
export interface LimitFromDimension {
  readonly dimension: string
  /** A whole number, as `limit` of a rule. */
  readonly default: number
}

/** A limit that is asked for at each request, at once; what it gives must be a limit that the rule could have. */
export type LimitFunction = (descriptor: Descriptor) => number

/** Where a rule's limit comes from, other than the rule. */
export interface LimitSource {
  /** `undefined` for a function. */
  readonly dimension: string | undefined
  /** What errors about it name. */
  readonly field: string
  /**
   * The limit of this request, as it was found.
   * @throws TidegateError `ERR_INVALID_LIMIT`
   */
  readonly of: (descriptor: Descriptor) => unknown
  /** What a version of the rules says of it. */
  readonly described: readonly (string | number)[]
}

export const LIMIT_EXPECTED = 'a whole number from 0 to 4,294,967,295'

/** True for what `compileLimitSource` reads; anything else is a limit that stands in the rule, or a mistake. */
export function isLimitSource(value: unknown): value is LimitFunction | object {
  return typeof value === 'function' || (typeof value === 'object' && value !== null && !Array.isArray(value))
}

/**
 * Checks where a limit comes from.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_INVALID_KEY`
 */
export function compileLimitSource(value: LimitFunction | object, field: string, rule: string): LimitSource {
  if (typeof value === 'function') {
    const of = (descriptor: Descriptor) => asked(value as LimitFunction, descriptor, rule)
    return { dimension: undefined, field: `the limit of rule ${rule}`, of, described: ['function', value.name] }
  }
  const { dimension: named, default: otherwise } = checkFields(value, field, ['dimension', 'default'])
  const dimension = checkKey(named, `${field}.dimension`)
  checkInteger(otherwise, `${field}.default`, 0, MAX_COUNT)
  const of = (descriptor: Descriptor) => {
    const text = valueIn(descriptor, dimension)
    return text === undefined ? otherwise : (parseCount(text) ?? text)
  }
  return {
    dimension,
    field: memberOf('descriptor', dimension),
    of,
    described: ['dimension', dimension, otherwise as number],
  }
}

function asked(limit: LimitFunction, descriptor: Descriptor, rule: string): unknown {
  try {
    const found: unknown = limit(descriptor)
    // A promise is none, and its failure is told as that: it must not end the process besides.
    if (found instanceof Promise) found.catch(() => undefined)
    return found
  } catch (cause) {
    const message = `the limit of rule ${rule}: its function threw ${cause instanceof Error ? cause.message : typeof cause}`
    throw new TidegateError('ERR_INVALID_LIMIT', message, { field: 'limit', expected: LIMIT_EXPECTED, cause })
  }
}

/** The error for a limit that its rule cannot have. */
export function invalidLimit({ field }: LimitSource, expected: string, limit: unknown): TidegateError {
  return invalid('ERR_INVALID_LIMIT', field, expected, limit)
}
