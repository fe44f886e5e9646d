import { formatNetwork, type NetworkBits, parseNetwork } from '../matching/network.ts'
import type { Trust } from './trust.ts'

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
/** IPv4, as it stands or inside an IPv6 address, perhaps with the port that some proxies add. */
const IPV4 = new RegExp(`^(?:::ffff:)?(${OCTET}(?:\\.${OCTET}){3})(?::\\d{1,5})?$`, 'i')
const BRACKETED = /^\[([^\]]+)\](?::\d{1,5})?$/
const MOST_CHARACTERS = 100
/** No chain of proxies is longer; whoever writes more addresses than this wants them to be read. */
const MOST_HOPS = 100

/** What stands for a client whose address is not known: all such count as one. */
export const UNKNOWN_CLIENT = 'unknown'

/**
 * What an address is counted as: an IPv4 address as it is, and of an IPv6 address the network of so many bits, because a
 * single client has at least a /64 at its disposal (RFC 6177). Ports, brackets and zones are left out, and IPv4 inside
 * IPv6 (`::ffff:192.0.2.1`) is IPv4. Undefined for what is no address.
 */
export function clientOf(address: string, ipv6Prefix = 64): string | undefined {
  const ipv4 = IPV4.exec(address)?.[1]
  if (ipv4 !== undefined) return ipv4
  const bits = addressOf(address)
  if (bits === undefined) return undefined
  if (bits.startsWith('4')) return formatNetwork(bits).slice(0, -'/32'.length)
  return ipv6Prefix === 128
    ? formatNetwork(bits).slice(0, -'/128'.length)
    : formatNetwork(bits.slice(0, ipv6Prefix + 1))
}

/** The bits of one address, without port, brackets and zone. */
function addressOf(text: string): NetworkBits | undefined {
  if (text.length > MOST_CHARACTERS || text.includes('/')) return undefined
  const bare = IPV4.exec(text)?.[1] ?? BRACKETED.exec(text)?.[1] ?? text
  const zone = bare.indexOf('%')
  return parseNetwork(zone < 0 ? bare : bare.slice(0, zone))?.bits
}

/**
 * The address of the client, as the nearest hop that is not trusted names it: `X-Forwarded-For` is read from its end for
 * as long as the hops are trusted. Where that ends at something that is no address, the hop that reported it stands for
 * its clients: one count for all, never a new one for each. After 100 hops nothing more is read.
 *
 * @param peer the other end of the connection; undefined on a Unix socket
 * @param forwarded the value of `X-Forwarded-For`
 * @returns the address as it was written; undefined where nobody named any
 */
export function clientAddress(
  peer: string | undefined,
  forwarded: string | undefined,
  { hops, believes }: Trust,
): string | undefined {
  let address = peer === '' ? undefined : peer
  let end = forwarded?.length ?? 0
  for (let hop = 0; end > 0 && hop < MOST_HOPS; hop++) {
    if (hop >= hops && !believes(address === undefined ? undefined : addressOf(address))) break
    const comma = (forwarded as string).lastIndexOf(',', end - 1)
    const named = (forwarded as string).slice(comma + 1, end).trim()
    if (addressOf(named) === undefined) break
    address = named
    end = comma
  }
  return address
}
