import { describe, expect, it, test } from 'vitest'
import { clientAddress, clientOf } from './client-address.ts'
import { compileTrust, type TrustProxy } from './trust.ts'

describe('clientOf', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['[::ffff:192.0.2.1]:443', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]:8080', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    // An IPv6 address that ends in four numbers, and is no IPv4 one.
    ['2001:db8::192.0.2.1', '2001:db8::/64'],
    ['::1', '::/64'],
  ])('%s is %s', (address, client) => expect(clientOf(address)).toBe(client))

  test.each([
    '',
    'unknown',
    '192.0.2',
    '192.0.2.256',
    '192.0.2.01',
    '1.2.3.4:',
    '1.2.3.4/32',
    'x'.repeat(1000),
    '_hidden',
    '::1::',
  ])('%j is no address', (address) => expect(clientOf(address)).toBeUndefined())

  it('takes as much of an IPv6 address as it is told', () => {
    expect(clientOf('2001:db8:1:2:3:4:5:6', 48)).toBe('2001:db8:1::/48')
    expect(clientOf('2001:db8:1:2:3:4:5:6', 56)).toBe('2001:db8:1::/56')
    expect(clientOf('2001:db8:1:2:3:4:5:6', 128)).toBe('2001:db8:1:2:3:4:5:6')
    expect(clientOf('192.0.2.1', 8)).toBe('192.0.2.1')
  })
})

describe('clientAddress', () => {
  const from = (trustProxy: TrustProxy, forwarded?: string, peer: string | undefined = '10.0.0.1') =>
    clientAddress(peer, forwarded, compileTrust(trustProxy, 'trustProxy'))
  const HEADER = '203.0.113.9, 198.51.100.1, 10.0.0.2'

  test.each([
    ['nobody', false, '10.0.0.1'],
    ['no hop', 0, '10.0.0.1'],
    ['one hop', 1, '10.0.0.2'],
    ['two hops', 2, '198.51.100.1'],
    ['more hops than there are', 9, '203.0.113.9'],
    ['everybody', true, '203.0.113.9'],
    ['a network', '10.0.0.0/8', '198.51.100.1'],
    ['a list', ['10.0.0.1', '10.0.0.2', '198.51.100.0/24'], '203.0.113.9'],
    ['names', 'loopback, uniquelocal', '198.51.100.1'],
    ['somebody else', '10.9.9.9', '10.0.0.1'],
    ['one of two', ['10.0.0.1'], '10.0.0.2'],
  ] as [string, TrustProxy, string][])('trusting %s', (_name, trust, client) =>
    expect(from(trust, HEADER)).toBe(client),
  )

  it('is the peer where nobody was named', () => {
    expect(from(3)).toBe('10.0.0.1')
    expect(from('uniquelocal', '')).toBe('10.0.0.1')
    expect(from(1, ' , ')).toBe('10.0.0.1')
  })

  it('is the hop that reported what is no address', () => {
    expect(from('uniquelocal', '203.0.113.9, unknown')).toBe('10.0.0.1')
    expect(from('uniquelocal', '203.0.113.9, <script>, 10.0.0.2')).toBe('10.0.0.2')
    expect(from(2, 'nonsense, 10.0.0.2')).toBe('10.0.0.2')
  })

  it('sees a proxy through the other spellings of its address', () => {
    expect(from('10.0.0.0/8', '192.0.2.1', '::ffff:10.0.0.1')).toBe('192.0.2.1')
    expect(from('10.0.0.0/8', '192.0.2.1, 10.0.0.7:8443')).toBe('192.0.2.1')
    expect(from('loopback', '192.0.2.1', '::1')).toBe('192.0.2.1')
  })

  it('on a Unix socket believes a count of hops, and the name unix, and nothing else', () => {
    for (const peer of [undefined, '']) {
      const asked = (trust: TrustProxy) => clientAddress(peer, '192.0.2.1', compileTrust(trust, 'trustProxy'))
      expect([asked(1), asked('unix'), asked(true)]).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.1'])
      expect([asked('loopback'), asked('10.0.0.0/8'), asked(false)]).toEqual([undefined, undefined, undefined])
    }
  })

  it('reads a long header from its end alone', () => {
    const long = `${'1.1.1.1, '.repeat(100_000)}192.0.2.1`
    expect(from(1, long)).toBe('192.0.2.1')
    expect(from(2, long)).toBe('1.1.1.1')
  })

  it('reads no more than 100 addresses, whoever is trusted: the time of a request is not for its client to choose', () => {
    let asked = 0
    const believes = () => {
      asked++
      return true
    }
    const many = Array.from({ length: 10_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`).reverse()
    expect(clientAddress('10.9.9.9', many.join(', '), { hops: 0, believes })).toBe('10.0.0.99')
    expect(asked).toBe(100)
    expect(clientAddress('10.9.9.9', ',,, ,'.repeat(1000), { hops: 0, believes })).toBe('10.9.9.9')
  })
})

describe('compileTrust', () => {
  test.each([-1, 1.5, 101, 'example.org', '10.0.0.0/33', '10.0.0.1/8', '010.0.0.1', ['10.0.0.0/8', 7], '', null, {}])(
    'refuses %j',
    (value) => {
      expect(() => compileTrust(value, 'trustProxy')).toThrow(/^trustProxy(\[\d\])?: expected true, false, a number/)
    },
  )

  test.each(['0.0.0.0/0', '::/0'])('%s is everybody', (network) => {
    expect(compileTrust(network, 'trustProxy').hops).toBe(Number.POSITIVE_INFINITY)
  })
})
