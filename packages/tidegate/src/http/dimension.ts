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
