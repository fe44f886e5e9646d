/** The bits of each octet by its only spelling: a leading zero means octal to some, and another address. */
const OCTETS = new Map(Array.from({ length: 256 }, (_, octet) => [String(octet), binary(octet, 8)]))

/** An IP address as '4' or '6' and its 32 or 128 bits; undefined for what is none. */
export function addressBits(address: string): string | undefined {
  const isIPv6 = address.includes(':')
  const bits = isIPv6 ? bitsOfIPv6(address) : bitsOfIPv4(address)
  return bits && (isIPv6 ? '6' : '4') + bits
}

function bitsOfIPv4(address: string): string | undefined {
  const octets = address.split('.')
  if (octets.length !== 4) return undefined
  let bits = ''
  for (const octet of octets) {
    const part = OCTETS.get(octet)
    if (part === undefined) return undefined
    bits += part
  }
  return bits
}

function bitsOfIPv6(address: string): string | undefined {
  const gap = address.indexOf('::')
  if (gap < 0) {
    const bits = bitsOfGroups(address, true)
    return bits?.length === 128 ? bits : undefined
  }
  const head = bitsOfGroups(address.slice(0, gap), false)
  const tail = bitsOfGroups(address.slice(gap + 2), true)
  // The gap stands for one group at least.
  if (head === undefined || tail === undefined || head.length + tail.length > 112) return undefined
  return head + '0'.repeat(128 - head.length - tail.length) + tail
}

/** Groups of 16 bits; the last two of an address may be written as IPv4. */
function bitsOfGroups(text: string, areLast: boolean): string | undefined {
  if (text === '') return ''
  const groups = text.split(':')
  let bits = ''
  for (const [i, group] of groups.entries()) {
    const isHex = /^[\da-fA-F]{1,4}$/.test(group)
    const mayBeIPv4 = areLast && i === groups.length - 1
    const part = isHex ? binary(Number.parseInt(group, 16), 16) : mayBeIPv4 ? bitsOfIPv4(group) : undefined
    if (part === undefined) return undefined
    bits += part
  }
  return bits
}

function binary(value: number, digits: number): string {
  return value.toString(2).padStart(digits, '0')
}
