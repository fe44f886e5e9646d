import { describe, expect, test } from 'vitest'
import { type Condition, compileCondition } from './condition.ts'

const LONG = 'x'.repeat(4096)
const hidden = String.raw

/** A condition, the values that meet it, and some that do not; `undefined` is a request without the dimension. */
const cases: [condition: Condition, met: (string | undefined)[], unmet: (string | undefined)[]][] = [
  // Values.
  ['/order', ['/order'], ['/Order', '/order/', '/orde', 'order', '', ' /order', undefined]],
  ['undefined', ['undefined'], [undefined, 'null']],
  ['*', ['*'], ['a', '**', undefined]],
  ['/a%20b', ['/a%20b'], ['/a b', '/a%2520b']],
  ['é', ['é'], ['e\u0301', 'e']],
  ['__proto__', ['__proto__'], ['constructor', undefined]],
  [LONG, [LONG], [LONG.slice(1), `${LONG}x`]],
  [
    ['GET', 'HEAD'],
    ['GET', 'HEAD'],
    ['POST', 'get', 'GET,HEAD', '', undefined],
  ],
  [['a'], ['a'], ['b', undefined]],
  [
    ['toString', '__proto__'],
    ['toString', '__proto__'],
    ['valueOf', undefined],
  ],

  // Prefixes.
  [{ prefix: '/api/' }, ['/api/', '/api/v1', `/api/${LONG}`], ['/api', '/apis', 'x/api/', '/API/', '', undefined]],
  [{ prefix: ['/b', '/a/'] }, ['/b', '/bc', '/a/', '/a/x'], ['/a', '/', '/c', undefined]],
  [{ prefix: ['/a', '/a/b', '/a'] }, ['/a', '/ab', '/a/b'], ['/', '/b']],
  [{ prefix: ['a', 'ab', 'abc', 'b'] }, ['a', 'az', 'abd', 'b'], ['', 'c', 'A']],
  [{ prefix: '/a*' }, ['/a*', '/a*b'], ['/ab', '/a']],
  [{ prefix: '%2e' }, ['%2e%2e'], ['.', '%2E']],
  [{ prefix: 'ü' }, ['über'], ['u\u0308ber', 'uber']],

  // Globs.
  [{ glob: '/order' }, ['/order'], ['/orders', '/orde', '', undefined]],
  [
    { glob: '/users/*/orders' },
    ['/users/7/orders', '/users//orders', '/users/é😀/orders'],
    ['/users/7/8/orders', '/users/7/orders/', '/users/orders', 'x/users/7/orders', '/users/7/order', undefined],
  ],
  [{ glob: '/files/**' }, ['/files/', '/files/a', '/files/a/b/', `/files/${LONG}`], ['/files', '/file/a', '']],
  [{ glob: '/**/edit' }, ['/a/edit', '/a/b/edit', '//edit', '/edit/edit'], ['/edit', '/a/edit/', '/aedit']],
  [{ glob: '**' }, ['a', '/', LONG, ''], [undefined]],
  [{ glob: '*' }, ['a', '', LONG], ['/', 'a/b', undefined]],
  [{ glob: '***' }, ['a/b', ''], [undefined]],
  [{ glob: '*.example.com' }, ['a.example.com', '.example.com', 'a.b.example.com'], ['example.com', 'a.exampleXcom']],
  [{ glob: 'v?' }, ['v1', 'v?', 'v😀', 'vé'], ['v', 'v12', 'v/', 've\u0301', undefined]],
  [{ glob: '??' }, ['ab', '😀😀', '\ud800\ud800'], ['😀', 'a', 'a/', '']],
  [{ glob: '*?' }, ['a', 'ab', '😀'], ['', '/', 'a/']],
  [{ glob: hidden`\*` }, ['*'], ['a', '', hidden`\*`]],
  [{ glob: hidden`\?\\\a` }, [hidden`?\a`], [hidden`?\\a`, 'a']],
  [{ glob: hidden`*\**` }, ['*', 'a*b', '**'], ['ab', '', 'a/*']],
  [{ glob: 'a.c[d-f](g|h)+$^' }, ['a.c[d-f](g|h)+$^'], ['abc[d-f](g|h)+$^', 'a.cdgg']],
  [{ glob: '%**' }, ['%', '%2e', '%/'], ['', 'a%']],
  [{ glob: '**a**' }, ['a', 'bab', '/a/'], ['b', '']],
  [{ glob: '*/*' }, ['/', 'a/b', 'a/', '/b'], ['a', 'a/b/c', '//']],
  [{ glob: '**/*.js' }, ['a/b.js', '/.js', 'a/b/c.js'], ['b.js', 'a/b.jsx', 'a/b.js/']],
  [{ glob: '**x*y' }, ['xy', 'x/xy', 'a/bxcy', 'xyxy'], ['x/y', 'xyx', 'xy/']],
  [{ glob: ['/a/*', '/b'] }, ['/a/', '/a/c', '/b'], ['/a', '/b/', '/a/c/d', undefined]],

  // Networks.
  [
    { cidr: '10.0.0.0/8' },
    ['10.0.0.0', '10.255.255.255', '::ffff:10.1.2.3', '::FFFF:0a01:0203', '10.1.0.0/16', '10.0.0.0/8'],
    ['11.0.0.0', '9.255.255.255', '10.0.0.0/7', '8.0.0.0/5', '2001:db8::a00:1', '::10.1.2.3', undefined],
  ],
  [
    { cidr: '10.0.0.0/8' },
    [],
    ['', '10', '10.1', '10.1.2', '10.1.2.3.4', '10.1.2.03', '10.1.2.256', '10.1.2.-3', '10.1.2.3 ', '0xa.1.2.3'],
  ],
  [
    { cidr: '10.0.0.0/8' },
    [],
    ['10.1.2.3/', '10.1.2.3/33', '10.1.2.3/08', '10.1.2.3/8', '10.1.2.3:80', 'localhost', '١٠.1.2.3', LONG],
  ],
  [{ cidr: '192.0.2.1' }, ['192.0.2.1', '192.0.2.1/32', '::ffff:192.0.2.1'], ['192.0.2.0', '192.0.2.0/31']],
  [{ cidr: '0.0.0.0/0' }, ['1.2.3.4', '255.255.255.255', '::ffff:1.2.3.4', '0.0.0.0/0'], ['::', '2001:db8::1', 'a']],
  [{ cidr: '::ffff:10.0.0.0/104' }, ['10.1.2.3', '::ffff:10.1.2.3'], ['11.0.0.0', '::10.1.2.3']],
  [{ cidr: '::/0' }, ['::', '::1', 'ffff::', '2001:db8::/64'], ['1.2.3.4', '::ffff:1.2.3.4', '', undefined]],
  [
    { cidr: '2001:db8::/32' },
    [
      '2001:db8::',
      '2001:DB8:0:0:1::1',
      '2001:db8:ffff:ffff:ffff:ffff:255.255.255.255',
      '2001:db8::/64',
      '2001:db8::/32',
    ],
    ['2001:db9::', '2001::/16', '2001:db8::/31', '2001:db8', '2001:db8::1::', '2001:db8:::1', '[2001:db8::1]'],
  ],
  [
    { cidr: '2001:db8::/32' },
    [],
    [
      '2001:db8::1%eth0',
      '2001:db8::1/64',
      '2001:db8::/129',
      '2001:db8::12345',
      '2001:db8::g',
      '2001:db8:1.2.3.4::',
      ':',
    ],
  ],
  [
    { cidr: '2001:db8::1' },
    ['2001:db8::1', '2001:0db8:0000::0001', '2001:db8::1/128'],
    ['2001:db8::/64', '2001:db8::'],
  ],
  [{ cidr: ['127.0.0.0/8', '::1'] }, ['127.0.0.1', '::1', '0:0:0:0:0:0:0:1'], ['::', '::2', '128.0.0.1', undefined]],
  [{ cidr: ['10.1.0.0/16', '10.0.0.0/8', '10.1.2.3'] }, ['10.9.9.9', '10.1.2.3'], ['11.1.2.3']],

  // Negations.
  [{ not: 'a' }, ['b', 'A', '', undefined], ['a']],
  [{ not: ['a', 'b'] }, ['c', undefined], ['a', 'b']],
  [{ not: { prefix: '/static/' } }, ['/', '/static', undefined], ['/static/', '/static/a']],
  [{ not: { glob: '/a/*' } }, ['/a', '/a/b/c', undefined], ['/a/', '/a/b']],
  [{ not: { glob: '**' } }, [undefined], ['', 'a', LONG]],
  [{ not: { cidr: ['10.0.0.0/8', '::1'] } }, ['11.1.1.1', 'nonsense', '10.1.2.03', undefined], ['10.1.2.3', '::1']],
]

describe.each(cases)('%j', (condition, met, unmet) => {
  const { matches } = compileCondition(condition, 'match.x')

  test('is met by what it names, and by nothing else', () => {
    expect(met.filter((value) => !matches(value))).toEqual([])
    expect(unmet.filter((value) => matches(value))).toEqual([])
  })

  test('is met as before after other values', () => {
    const all = [...met, ...unmet]
    const once = all.map((value) => matches(value))
    expect(all.toReversed().map((value) => matches(value))).toEqual(once.toReversed())
  })
})
