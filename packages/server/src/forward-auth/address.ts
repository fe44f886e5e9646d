import { isIPv4, isIPv6 } from 'node:net'

/**
 * The one spelling of an IP address: IPv4 with dots, IPv6 after RFC 5952 in lower case. Brackets, a
 * source port and a zone are dropped, and an IPv4 address inside an IPv6 one (`::ffff:1.2.3.4`) is
 * taken out, because a client must not be another client when any of these change.
 * Undefined for what is no address.
 */
export function parseAddress(text: string): string | undefined {
  const bare = withoutPort(text.trim()).replace(/%.*$/, '')
  if (isIPv4(bare)) return bare
  if (!isIPv6(bare)) return undefined
  const canonical = canonicalIPv6(bare)
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? []
  return high === undefined || low === undefined
    ? canonical
    : dotted(Number.parseInt(high, 16), Number.parseInt(low, 16))
}

/**
 * What is counted as one client: an IPv4 address, or the /64 network of an IPv6 one, of which a
 * single client has every address at its disposal (RFC 6177 gives a site at least that much).
 */
export function clientOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail = ''] = address.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === '' ? [] : tail.split(':')
  const gap = address.includes('::') ? new Array<string>(8 - first.length - last.length).fill('0') : []
  const network = [...first, ...gap, ...last].slice(0, 4).join(':')
  return `${canonicalIPv6(`${network}::`)}/64`
}

function withoutPort(text: string): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? []
  if (bracketed !== undefined) return bracketed
  const [, dottedQuad] = /^([\d.]+):\d+$/.exec(text) ?? []
  return dottedQuad ?? text
}

/** The URL parser writes an IPv6 host in its shortest form. */
function canonicalIPv6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
