import { MAX_COUNT } from './decision.ts'
import { type Descriptor, valueIn } from './descriptor.ts'
import { invalid, memberOf } from './errors.ts'
import { isKey } from './key.ts'
import { checkFields } from './options.ts'

/** What a single request may say besides its key. */
export interface RequestOptions {
  /** A whole number from 0 to 4,294,967,295. Default: 1. A cost of 0 reads and never writes. */
  cost?: number
  /**
   * The caller's id of the request, 1 to 256 characters: `sliding-log` lists it, and of `concurrency` it names the
   * lease, so that asking again with the id of a live lease renews it and is charged once. Of a rule with `shards` it decides
   * which one. Default: a random one.
   */
  id?: string
}

const MAX_ID_LENGTH = 256
const ID_EXPECTED = `a string of 1 to ${MAX_ID_LENGTH} characters without control characters, braces or halves of a surrogate pair`
/** Has no UTF-8 form: two such ids would be one in Redis. */
const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * Reads the cost of a request.
 * @throws TidegateError `ERR_INVALID_COST`, `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function costOf(options: RequestOptions | undefined): number {
  if (options === undefined) return 1
  const { cost = 1, id } = checkFields(options, 'options', ['cost', 'id'])
  if (id !== undefined) checkId(id)
  return checkCost(cost)
}

/** @throws TidegateError `ERR_INVALID_COST` */
export function checkCost(cost: unknown): number {
  if (typeof cost === 'number' && Number.isInteger(cost) && cost >= 0 && cost <= MAX_COUNT) return cost + 0
  throw invalid('ERR_INVALID_COST', 'cost', 'a whole number from 0 to 4,294,967,295', cost)
}

/** True where `value` can name a request. */
export function isId(value: unknown): value is string {
  return isKey(value) && value.length <= MAX_ID_LENGTH && !LONE_SURROGATE.test(value)
}

/** A decimal whole number from 0 to 4,294,967,295, as dimensions give it; undefined for anything else, leading zeros too. */
export function parseCount(text: string): number | undefined {
  if (!/^(?:0|[1-9]\d{0,9})$/.test(text)) return undefined
  const count = Number(text)
  return count <= MAX_COUNT ? count : undefined
}

/**
 * The cost of a request for a rule that takes it from a dimension; undefined where the request lacks it.
 * @throws TidegateError `ERR_INVALID_COST`
 */
export function costIn(descriptor: Descriptor, dimension: string): number | undefined {
  const text = valueIn(descriptor, dimension)
  if (text === undefined) return undefined
  const cost = parseCount(text)
  if (cost !== undefined) return cost
  const expected = 'a decimal whole number from 0 to 4,294,967,295, because it is the cost'
  throw invalid('ERR_INVALID_COST', memberOf('descriptor', dimension), expected, text)
}

/** @throws TidegateError `ERR_INVALID_OPTION` */
export function checkId(id: unknown): string {
  if (isId(id)) return id
  throw invalid('ERR_INVALID_OPTION', 'id', ID_EXPECTED, id)
}

declare const crypto: { randomUUID: () => string }

/**
 * The id of a request whose rule keeps it. One that is made is looked at too: V8 makes a UUID as a rope of many small
 * strings, which stay in memory one by one for as long as it is kept, unless somebody reads it.
 */
export function requestIdOf(options: RequestOptions | undefined): string {
  const id: unknown = options?.id
  return checkId(id === undefined ? crypto.randomUUID() : id)
}
