/**
 * SHA-256 (FIPS 180-4) in plain JavaScript: the core runs where `node:crypto` does not exist and
 * where `crypto.subtle`, being asynchronous, cannot name a key.
 */

const FIRST_PRIMES = primes(64)
/** First 32 bits of the fractional parts of the square roots of the first 8 primes. */
const INITIAL = FIRST_PRIMES.slice(0, 8).map((prime) => fraction(prime ** (1 / 2)))
/** First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const ROUND = FIRST_PRIMES.map((prime) => fraction(prime ** (1 / 3)))

/** The digest of a text's UTF-8 form, as 64 hexadecimal digits. */
export function sha256(text: string): string {
  const message = pad(new TextEncoder().encode(text))
  const state = Uint32Array.from(INITIAL)
  const schedule = new Uint32Array(64)
  for (let at = 0; at < message.byteLength; at += 64) compress(state, schedule, message, at)
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('')
}

function pad(bytes: Uint8Array): DataView {
  const length = (((bytes.length + 8) >> 6) + 1) * 64
  const padded = new Uint8Array(length)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(length - 8, Math.floor((bytes.length * 8) / 2 ** 32))
  view.setUint32(length - 4, (bytes.length * 8) >>> 0)
  return view
}

function compress(state: Uint32Array, schedule: Uint32Array, message: DataView, at: number): void {
  for (let i = 0; i < 16; i++) schedule[i] = message.getUint32(at + i * 4)
  for (let i = 16; i < 64; i++) {
    const early = word(schedule, i - 15)
    const late = word(schedule, i - 2)
    const mixedEarly = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3)
    const mixedLate = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10)
    schedule[i] = word(schedule, i - 16) + mixedEarly + word(schedule, i - 7) + mixedLate
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let i = 0; i < 64; i++) {
    const choice = (e & f) ^ (~e & g)
    const first =
      (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + (ROUND[i] ?? 0) + word(schedule, i)) | 0
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = word(state, i) + value
}

function word(words: Uint32Array, index: number): number {
  return words[index] ?? 0
}

function rotate(value: number, bits: number): number {
  return (value >>> bits) | (value << (32 - bits))
}

function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) >>> 0
}

function primes(count: number): number[] {
  const found: number[] = []
  for (let candidate = 2; found.length < count; candidate++) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate)
  }
  return found
}

/** The first 32 bits of the hash of a value's JSON, in hexadecimal: enough to tell a few apart. */
export function shortHash(value: unknown): string {
  return sha256(JSON.stringify(value)).slice(0, 8)
}
