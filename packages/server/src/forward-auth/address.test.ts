import { expect, test } from 'vitest'
import { clientOf, parseAddress } from './address.ts'

// The kind of fault: one client that is counted as another each time a port, a spelling or a host part changes.
const clients: [text: string, client: string | undefined][] = [
  ['1.2.3.4', '1.2.3.4'],
  [' 1.2.3.4 ', '1.2.3.4'],
  ['1.2.3.4:55555', '1.2.3.4'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['::FFFF:102:304', '1.2.3.4'],
  ['[::ffff:1.2.3.4]:80', '1.2.3.4'],
  ['0:0:0:0:0:ffff:1.2.3.4', '1.2.3.4'],
  ['2001:db8::1', '2001:db8::/64'],
  ['2001:DB8:0:0:1:2:3:4', '2001:db8::/64'],
  ['2001:0db8::ffff', '2001:db8::/64'],
  ['[2001:db8::1]', '2001:db8::/64'],
  ['[2001:db8::1]:443', '2001:db8::/64'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::1.2.3.4', '2001:db8::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['1::', '1::/64'],
  ['', undefined],
  ['unknown', undefined],
  ['1.2.3', undefined],
  ['1.2.3.4.5', undefined],
  ['01.2.3.4', undefined],
  ['1.2.3.4:x', undefined],
  ['_hidden', undefined],
  ['1.2.3.4, 5.6.7.8', undefined],
]
test.each(clients)('%j is %s', (text, client) => {
  const address = parseAddress(text)
  expect(address === undefined ? undefined : clientOf(address)).toBe(client)
})
