import { createHash } from 'node:crypto'
import { isKey } from 'tidegate/store'

/**
 * A header's value as the value of a dimension. What no key may be (longer than 4,096 characters,
 * with braces or control characters) is counted by its hash: refusing it would let a client make
 * errors at the gateway, and leaving it out would let it pass by the rules that ask for it.
 */
export function dimensionValue(text: string): string {
  return isKey(text) ? text : hashed(text)
}

/** The value by its hash, for what must not be readable in a store. */
export function hashed(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}
