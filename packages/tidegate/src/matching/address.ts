/** An IP address as '4' or '6' and its 32 or 128 bits; undefined for what is none. Bounds no length. */
export function addressBits(address: string): string | undefined {
  return address.includes(':') ? bitsOfIPv6(address) : bitsOfIPv4(address)
}

function bitsOfIPv4(address: string): string | undefined {
  const octets = octetsOf(address)
  return octets && `4${octets.map((octet) => binary(octet, 8)).join('')}`
}

function bitsOfIPv6(address: string): string | undefined {
  const halves = address.split('::').map(groupsOf)
  const [first, last] = halves
  if (first === undefined || halves.length > 2 || halves.includes(undefined)) return undefined
  // A dotted quad ends the address.
  if (last !== undefined && address.slice(0, address.indexOf('::')).includes('.')) return undefined
  const missing = 8 - first.length - (last?.length ?? 0)
  if (last === undefined ? missing !== 0 : missing < 1) return undefined
  const groups = [...first, ...new Array<number>(missing).fill(0), ...(last ?? [])]
  return `6${groups.map((group) => binary(group, 16)).join('')}`
}

function groupsOf(half: string): number[] | undefined {
  if (half === '') return []
  const parts = half.split(':')
  const octets = octetsOf(parts.at(-1) as string)
  if (octets !== undefined) parts.pop()
  if (!parts.every((part) => /^[\da-fA-F]{1,4}$/.test(part))) return undefined
  const groups = parts.map((part) => Number.parseInt(part, 16))
  const [a, b, c, d] = octets ?? []
  return octets === undefined ? groups : [...groups, Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)]
}

function octetsOf(address: string): number[] | undefined {
  const parts = address.split('.')
  // A leading zero means octal to some: the address would be another one to them.
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return undefined
  const octets = parts.map(Number)
  return octets.every((octet) => octet <= 255) ? octets : undefined
}

function binary(value: number, digits: number): string {
  return value.toString(2).padStart(digits, '0')
}
