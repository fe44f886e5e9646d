import { invalid } from '../errors.ts'
import { type NetworkBits, parseNetwork } from '../matching/network.ts'

/**
 * Who is believed when it names the client in `X-Forwarded-For`. A number: that many proxies stand in front, and nobody
 * reaches the application past them. A list, or one text with commas: the addresses and networks of the proxies
 * (`'10.0.0.0/8'`), or their names: `loopback`, `linklocal`, `uniquelocal`, and `unix` for a peer on a Unix socket.
 * `true` believes everybody, so that a client chooses its address. `false` nobody.
 */
export type TrustProxy = boolean | number | string | readonly string[]

/** Whom a compiled `TrustProxy` believes. */
export interface Trust {
  /** How many proxies are believed, whatever their address; 0 where the address decides, infinite for everybody. */
  readonly hops: number
  /** Whether the peer with this address is believed; `undefined` for one without, on a Unix socket. */
  readonly believes: (address: NetworkBits | undefined) => boolean
}

const NAMED: Record<string, readonly string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}
const UNIX = 'unix'
const MOST_HOPS = 100
const EXPECTED = `true, false, a number of proxies from 0 to ${MOST_HOPS}, or addresses and networks such as '10.0.0.0/8', or loopback, linklocal, uniquelocal, unix`

/**
 * Reads whom to trust.
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function compileTrust(value: unknown, field: string): Trust {
  if (value === undefined || value === false) return { hops: 0, believes: () => false }
  if (value === true) return { hops: Number.POSITIVE_INFINITY, believes: () => true }
  if (typeof value === 'number') {
    if (Number.isInteger(value) && value >= 0 && value <= MOST_HOPS) return { hops: value, believes: () => false }
    throw invalid('ERR_INVALID_OPTION', field, EXPECTED, value)
  }
  const entries: unknown = typeof value === 'string' ? value.split(',') : value
  if (!Array.isArray(entries)) throw invalid('ERR_INVALID_OPTION', field, EXPECTED, value)
  return trustOf(entries.map((entry: unknown, i) => checkEntry(entry, `${field}[${i}]`)))
}

function trustOf(entries: readonly string[]): Trust {
  const unix = entries.includes(UNIX)
  const networks = entries.flatMap((entry) => NAMED[entry] ?? (entry === UNIX ? [] : [entry])).map(bitsOf)
  // The text of a network of 0 bits is its family alone.
  if (networks.some((bits) => bits.length === 1)) return { hops: Number.POSITIVE_INFINITY, believes: () => true }
  return {
    hops: 0,
    believes: (address) => (address === undefined ? unix : networks.some((network) => address.startsWith(network))),
  }
}

function checkEntry(value: unknown, field: string): string {
  const entry = typeof value === 'string' ? value.trim() : ''
  if (entry === UNIX || Object.hasOwn(NAMED, entry) || parseNetwork(entry)?.exact === true) return entry
  throw invalid('ERR_INVALID_OPTION', field, EXPECTED, value)
}

function bitsOf(text: string): NetworkBits {
  return parseNetwork(text)?.bits as NetworkBits
}
