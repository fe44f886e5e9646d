import { addressBits } from './address.ts'

/**
 * An IP network as text: '4' or '6', then the bits of its prefix, each '0' or '1'. So a network lies within
 * another where its text begins with the other's, and an address is a network of 32 or 128 bits.
 * What is in ::ffff:0:0/96 is IPv4, the same client by another name (RFC 4291, 2.5.5.2).
 */
export type NetworkBits = string

/** The longest that a network can be written: six groups, a dotted quad and a prefix length. */
const MOST_CHARACTERS = 'ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255/128'.length
const MAPPED = `6${'0'.repeat(80)}${'1'.repeat(16)}`

/**
 * Reads an address or a network. `exact` is false where bits beyond the prefix are set, which are left out.
 * Undefined for what is neither; leading zeros, zones, brackets and ports are not part of one.
 */
export function parseNetwork(text: string): { readonly bits: NetworkBits; readonly exact: boolean } | undefined {
  if (text.length > MOST_CHARACTERS) return undefined
  const slash = text.indexOf('/')
  const whole = addressBits(slash < 0 ? text : text.slice(0, slash))
  if (whole === undefined) return undefined
  const prefix = slash < 0 ? whole.length - 1 : lengthOf(text.slice(slash + 1))
  if (prefix === undefined || prefix >= whole.length) return undefined
  const bits = whole.slice(0, prefix + 1)
  return {
    bits: bits.startsWith(MAPPED) ? `4${bits.slice(MAPPED.length)}` : bits,
    exact: !whole.includes('1', prefix + 1),
  }
}

function lengthOf(text: string): number | undefined {
  return /^(?:0|[1-9]\d{0,2})$/.test(text) ? Number(text) : undefined
}

let lastText = ''
let lastNetwork: NetworkBits | undefined

/** The network that the value of a dimension is. Kept until the next one: many rules ask of one request. */
export function networkOf(text: string): NetworkBits | undefined {
  if (text !== lastText) {
    const network = parseNetwork(text)
    lastNetwork = network?.exact ? network.bits : undefined
    lastText = text
  }
  return lastNetwork
}

/** The one spelling of a network: `10.0.0.0/8`, `2001:db8::/32` (RFC 5952). */
export function formatNetwork(bits: NetworkBits): string {
  const prefix = bits.length - 1
  if (bits.startsWith('4')) return `${numbersOf(bits, 32, 8).join('.')}/${prefix}`
  const groups = numbersOf(bits, 128, 16).map((group) => group.toString(16))
  const text = groups.join(':')
  // The first of the longest runs of zeros, of two at least.
  const runs = [...text.matchAll(/(?<![^:])0(?::0)+(?![^:])/g)]
  const longest = Math.max(0, ...runs.map(([run]) => run.length))
  const run = runs.find(([zeros]) => zeros.length === longest)
  if (run === undefined) return `${text}/${prefix}`
  const [head, tail] = [text.slice(0, run.index), text.slice(run.index + longest)]
  return `${head.replace(/:$/, '')}::${tail.replace(/^:/, '')}/${prefix}`
}

function numbersOf(bits: NetworkBits, width: number, digits: number): number[] {
  const whole = bits.slice(1).padEnd(width, '0')
  return Array.from({ length: width / digits }, (_, i) => Number.parseInt(whole.slice(i * digits, (i + 1) * digits), 2))
}
