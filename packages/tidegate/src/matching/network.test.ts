import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileCondition } from './condition.ts'
import { formatNetwork, parseNetwork } from './network.ts'

/** An address as a number, written by the parser of URLs, which is somebody else's. */
function numberOf(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n)
  const host = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail = ''] = host.split('::').map((half) =>
    half
      .split(':')
      .filter(Boolean)
      .map((group) => group.padStart(4, '0'))
      .join(''),
  )
  return BigInt(`0x${host.includes('::') ? head + tail.padStart(32 - head.length, '0') : head}`)
}

const ipv4 = fc.ipV4()
const ipv6 = fc.ipV6()
/** Addresses that are near each other more often than not. */
const nearby = fc.tuple(fc.nat(3), fc.nat(255), fc.nat(3)).map(([a, b, c]) => `10.${a}.${b}.${c}`)
const nearby6 = fc
  .tuple(fc.nat(3), fc.nat(65_535), fc.nat(3))
  .map((groups) => `2001:db8:${groups.map((group) => group.toString(16)).join(':')}::1`)

describe('a network', () => {
  test.each([
    [32n, fc.oneof(ipv4, nearby)],
    [128n, fc.oneof(ipv6, nearby6)],
  ])('holds the addresses that arithmetic says it does (%d bits)', (width, addresses) => {
    fc.assert(
      fc.property(addresses, addresses, fc.bigInt(0n, width), fc.bigInt(0n, width), (one, other, prefix, length) => {
        const network = parseNetwork(`${one}/${prefix}`)
        fc.pre(network !== undefined && !isMapped(one) && !isMapped(other))
        const condition = compileCondition({ cidr: formatNetwork(network.bits) }, 'match.ip')
        const rest = width - prefix
        const isWithin = numberOf(one) >> rest === numberOf(other) >> rest
        expect(condition.matches(other)).toBe(isWithin)
        // As a network of its own, the address says less than before.
        const within = parseNetwork(`${other}/${length}`)
        const value = formatNetwork(within?.bits ?? '')
        expect(condition.matches(value)).toBe(isWithinWhole(one, other, width, prefix, length))
      }),
      { numRuns: 1000 },
    )
  })

  function isWithinWhole(one: string, other: string, width: bigint, prefix: bigint, length: bigint): boolean {
    return length >= prefix && numberOf(one) >> (width - prefix) === numberOf(other) >> (width - prefix)
  }

  test('says whether bits beyond the prefix are set', () => {
    fc.assert(
      fc.property(fc.oneof(ipv6, nearby6), fc.bigInt(0n, 128n), (address, prefix) => {
        const rest = 128n - prefix
        expect(parseNetwork(`${address}/${prefix}`)?.exact).toBe(
          (numberOf(address) >> rest) << rest === numberOf(address),
        )
      }),
      { numRuns: 1000 },
    )
  })
})

describe('an address', () => {
  test('is read where Node reads one, zones aside', () => {
    const pieces = fc.constantFrom(
      ':',
      '::',
      '.',
      '0',
      '1',
      '255',
      '256',
      '01',
      'f',
      'ffff',
      'fffff',
      '1.2.3.4',
      'g',
      '%',
      '/',
      ' ',
    )
    const texts = fc.oneof(
      ipv4,
      ipv6,
      fc.array(pieces, { maxLength: 20 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        fc.pre(!text.includes('%') && !text.includes('/'))
        expect(parseNetwork(text) !== undefined).toBe(isIP(text) !== 0)
      }),
      { numRuns: 5000 },
    )
  })

  test('in IPv6 that stands for IPv4 is that one', () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        const expected = parseNetwork(address)
        expect(parseNetwork(`::ffff:${address}`)).toEqual(expected)
        expect(parseNetwork(`0:0:0:0:0:FFFF:${address}/128`)).toEqual(expected)
      }),
    )
  })

  test('is written as RFC 5952 asks', () => {
    fc.assert(
      fc.property(fc.oneof(ipv6, nearby6), (address) => {
        fc.pre(!isMapped(address))
        const expected = new URL(`http://[${address}]`).hostname.slice(1, -1)
        expect(formatNetwork(parseNetwork(address)?.bits ?? '')).toBe(`${expected}/128`)
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    ['0:0:0:0:0:0:0:0/0', '::/0'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3/128'],
    ['1:0:0:2:0:0:3:4', '1::2:0:0:3:4/128'],
    ['1:0:2:0:3:0:4:0', '1:0:2:0:3:0:4:0/128'],
    ['0:0:1::', '0:0:1::/128'],
    ['10:0:0:10:0:0:0:100', '10:0:0:10::100/128'],
    ['255.255.255.255', '255.255.255.255/32'],
    ['128.0.0.0/1', '128.0.0.0/1'],
  ])('%s is written %s', (text, written) => {
    expect(formatNetwork(parseNetwork(text)?.bits ?? '')).toBe(written)
  })
})

function isMapped(address: string): boolean {
  return address.includes(':') && numberOf(address) >> 32n === 0xffffn
}
