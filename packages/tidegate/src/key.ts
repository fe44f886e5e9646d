import { invalid } from './errors.ts'
import { sha256 } from './sha256.ts'

/** What a counter is counted under: one value, or the values of several dimensions in the rule's order. */
export type Key = string | readonly string[]

/** The longest value of a dimension, in UTF-16 code units. */
export const MAX_KEY_LENGTH = 4096

/** A key longer than this, in bytes of UTF-8 at most, is stored by its hash. */
const HASH_ABOVE_BYTES = 128

// Control characters never belong in a name that people read in logs; braces delimit the hash tag of a Redis key.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the purpose.
const FORBIDDEN = /[\u0000-\u001f\u007f{}]/

/** What a value must be, in the words of the error. */
export const KEY_EXPECTED = `a string of 1 to ${MAX_KEY_LENGTH} characters without control characters or braces`

/** True where `value` can name a counter. */
export function isKey(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_KEY_LENGTH && !FORBIDDEN.test(value)
}

/** Longer values are looked at in full. */
const PLAIN_LENGTH = 64

/** Which ASCII characters stand for themselves in a Redis key. */
const PLAIN = Uint8Array.from({ length: 128 }, (_, code) => {
  return code > 0x20 && code < 0x7f && !'%,:*#{}'.includes(String.fromCharCode(code)) ? 1 : 0
})

/** Whether a value is one that most are: allowed, short, and the same in a Redis key. Cheaper than to find out what it is else. */
export function isPlainKey(value: string): boolean {
  const { length } = value
  if (length === 0 || length > PLAIN_LENGTH) return false
  for (let i = 0; i < length; i++) if (PLAIN[value.charCodeAt(i)] !== 1) return false
  return true
}

/**
 * Refuses a value that cannot name a counter.
 * @throws TidegateError `ERR_INVALID_KEY`, naming `field`
 */
export function checkKey(value: unknown, field: string): string {
  if (typeof value === 'string' && isPlainKey(value)) return value
  if (isKey(value)) return value
  throw invalid('ERR_INVALID_KEY', field, KEY_EXPECTED, value)
}

/**
 * Refuses a key any of whose values cannot name a counter.
 * @throws TidegateError `ERR_INVALID_KEY`
 */
export function checkEach(key: Key): void {
  if (typeof key === 'string') checkKey(key, 'key')
  else for (const value of key) checkKey(value, 'key')
}

/**
 * One string for the values of several dimensions, such that different values never give the same
 * string: (`a`, `b_c`) and (`a_b`, `c`) differ, and so do (`a,b`, `c`) and (`a`, `b,c`).
 * A single value stands for itself.
 */
export function joinKey(key: Key): string {
  return typeof key === 'string' ? key : key.map(escapeSeparator).join(',')
}

function escapeSeparator(value: string): string {
  return /[%,]/.test(value) ? value.replace(/[%,]/g, percent) : value
}

/**
 * The part of a Redis key that stands for the values: escaped so that it holds neither separators
 * nor what a client would mangle (a lone surrogate has no UTF-8 form), and hashed where it is long.
 * `*` stands for a rule without dimensions, one counter for everything.
 */
export function encodeKey(key: Key, hash = false): string {
  const encoded = typeof key === 'string' ? encodeValue(key) : key.length === 0 ? '*' : key.map(encodeValue).join(',')
  return hash || isLong(encoded) ? `#${sha256(encoded).slice(0, 32)}` : encoded
}

const TO_ENCODE = /[%,:*#{}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
const TO_ENCODE_ALL = new RegExp(TO_ENCODE, 'g')

function encodeValue(value: string): string {
  return TO_ENCODE.test(value) ? value.replace(TO_ENCODE_ALL, percent) : value
}

function percent(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x80 ? `%${code.toString(16).toUpperCase().padStart(2, '0')}` : `%u${code.toString(16).toUpperCase()}`
}

function isLong(text: string): boolean {
  if (text.length * 3 <= HASH_ABOVE_BYTES) return false
  return text.length > HASH_ABOVE_BYTES || new TextEncoder().encode(text).length > HASH_ABOVE_BYTES
}
