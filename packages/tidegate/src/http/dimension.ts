import { invalid } from '../errors.ts'
import { isKey } from '../key.ts'
import { sha256 } from '../sha256.ts'

/**
 * What a request says of itself as the value of a dimension. What no key may be (longer than 4,096 characters, with
 * braces or control characters) is counted by its hash: refusing it would let a client make errors, and leaving it out
 * would let it pass by the limits that ask for it.
 */
export function dimensionValue(text: string): string {
  return isKey(text) ? text : `sha256:${sha256(text)}`
}

/**
 * What a `keyGenerator` gave, numbers as they are written; undefined where it gave nothing. Anything else would be one key for
 * all: an object has the text of every other.
 * @throws TidegateError `ERR_INVALID_KEY`
 */
export function givenKey(given: unknown): string | undefined {
  if (given === undefined || given === null || given === false || given === '') return undefined
  if (typeof given === 'string') return dimensionValue(given)
  if (typeof given === 'bigint' || Number.isFinite(given)) return String(given)
  throw invalid('ERR_INVALID_KEY', 'keyGenerator', 'a string, or nothing for the address of the client', given)
}
