import { describe, expect, test } from 'vitest'
import { type Condition, compileCondition } from './condition.ts'

const KEY = 'a string of 1 to 4096 characters without control characters or braces'
const FORM = 'a string, a list of strings, or a condition by prefix, glob, cidr or not'
const ADDRESS = "an IP address or a network such as '10.0.0.0/8' or '2001:db8::/32'"
const GLOB = 'a glob with a character behind its last backslash'
const alone = (kinds: string) =>
  `one of ${kinds} alone: for any of several, a list in it or a rule for each; for all of several, a glob that says both`

const FIELD = 'rules[2].match.x'

const wrong: [condition: unknown, code: string, path: string, expected: string, ending: string][] = [
  [7, 'ERR_INVALID_OPTION', '', FORM, ', received 7'],
  [null, 'ERR_INVALID_OPTION', '', FORM, ', received null'],
  [undefined, 'ERR_INVALID_OPTION', '', FORM, ', received undefined'],
  [true, 'ERR_INVALID_OPTION', '', FORM, ', received true'],
  [/a/, 'ERR_INVALID_OPTION', '', FORM, ', received an object'],
  [new Map([['prefix', '/']]), 'ERR_INVALID_OPTION', '', FORM, ', received an object'],
  [{}, 'ERR_INVALID_OPTION', '', FORM, ', received an object'],
  [[], 'ERR_INVALID_OPTION', '', 'at least one value', ', received an array'],
  ['', 'ERR_INVALID_KEY', '', KEY, ', received ""'],
  ['{x}', 'ERR_INVALID_KEY', '', KEY, ', received "{x}"'],
  [['a', ''], 'ERR_INVALID_KEY', '[1]', KEY, ', received ""'],
  [['a', 1], 'ERR_INVALID_KEY', '[1]', KEY, ', received 1'],
  [['a', ['b']], 'ERR_INVALID_KEY', '[1]', KEY, ', received an array'],
  [['a', { prefix: 'b' }], 'ERR_INVALID_KEY', '[1]', KEY, ', received an object'],
  [new Array(1), 'ERR_INVALID_KEY', '[0]', KEY, ', received undefined'],
  [{ prefix: '' }, 'ERR_INVALID_KEY', '.prefix', KEY, ', received ""'],
  [{ prefix: [] }, 'ERR_INVALID_OPTION', '.prefix', 'at least one value', ', received an array'],
  [{ prefix: ['/', 'a\n'] }, 'ERR_INVALID_KEY', '.prefix[1]', KEY, ', received "a\\n"'],
  [{ prefix: { glob: 'a' } }, 'ERR_INVALID_KEY', '.prefix', KEY, ', received an object'],
  [{ prefix: undefined }, 'ERR_INVALID_KEY', '.prefix', KEY, ', received undefined'],
  [{ glob: '' }, 'ERR_INVALID_KEY', '.glob', KEY, ', received ""'],
  [{ glob: 'a{b,c}' }, 'ERR_INVALID_KEY', '.glob', KEY, ', received "a{b,c}"'],
  [{ glob: 'a\\' }, 'ERR_INVALID_OPTION', '.glob', GLOB, ', received "a\\\\"'],
  [{ glob: ['a', '\\\\\\'] }, 'ERR_INVALID_OPTION', '.glob[1]', GLOB, ', received "\\\\\\\\\\\\"'],
  [{ cidr: 'localhost' }, 'ERR_INVALID_OPTION', '.cidr', ADDRESS, ', received "localhost"'],
  [{ cidr: 10 }, 'ERR_INVALID_OPTION', '.cidr', ADDRESS, ', received 10'],
  [{ cidr: '' }, 'ERR_INVALID_OPTION', '.cidr', ADDRESS, ', received ""'],
  [{ cidr: '10.0.0.0/33' }, 'ERR_INVALID_OPTION', '.cidr', ADDRESS, ', received "10.0.0.0/33"'],
  [{ cidr: '10.0.0.010' }, 'ERR_INVALID_OPTION', '.cidr', ADDRESS, ', received "10.0.0.010"'],
  [{ cidr: 'fe80::1%eth0' }, 'ERR_INVALID_OPTION', '.cidr', ADDRESS, ', received "fe80::1%eth0"'],
  [
    { cidr: ['10.0.0.0/8', '10.1.2.3/8'] },
    'ERR_INVALID_OPTION',
    '.cidr[1]',
    'the network 10.0.0.0/8, which has no bits beyond its prefix',
    ', received "10.1.2.3/8"',
  ],
  [
    { cidr: '2001:db8:0:1::/63' },
    'ERR_INVALID_OPTION',
    '.cidr',
    'the network 2001:db8::/63, which has no bits beyond its prefix',
    ', received "2001:db8:0:1::/63"',
  ],
  [
    { cidr: '::ffff:10.0.0.1/104' },
    'ERR_INVALID_OPTION',
    '.cidr',
    'the network 10.0.0.0/8, which has no bits beyond its prefix',
    ', received "::ffff:10.0.0.1/104"',
  ],
  [{ prefix: '/', glob: '*' }, 'ERR_INVALID_OPTION', '', alone('prefix, glob'), ', received an object'],
  [{ not: 'a', cidr: '::1' }, 'ERR_INVALID_OPTION', '', alone('not, cidr'), ', received an object'],
  [{ not: [] }, 'ERR_INVALID_OPTION', '.not', 'at least one value', ', received an array'],
  [{ not: {} }, 'ERR_INVALID_OPTION', '.not', FORM, ', received an object'],
  [{ not: null }, 'ERR_INVALID_OPTION', '.not', FORM, ', received null'],
  [{ not: ['a', ''] }, 'ERR_INVALID_KEY', '.not[1]', KEY, ', received ""'],
  [{ not: { cidr: ['::1', 'x'] } }, 'ERR_INVALID_OPTION', '.not.cidr[1]', ADDRESS, ', received "x"'],
  [
    { not: { not: 'a' } },
    'ERR_INVALID_OPTION',
    '.not',
    'a condition other than not: not of not is the condition itself',
    ', received an object',
  ],
]

describe('a condition that cannot be is refused, by field', () => {
  test.each(wrong)('%o', (condition, code, path, expected, ending) => {
    const message = `${FIELD}${path}: expected ${expected}${ending}`
    expect(() => compileCondition(condition, FIELD)).toThrow(
      expect.objectContaining({ name: 'TidegateError', code, field: FIELD + path, expected, message }),
    )
  })

  test.each(['regex', 'Prefix', 'toString', '__proto__'])('an unknown kind: %s', (kind) => {
    const condition: unknown = JSON.parse(`{"${kind}":"a","prefix":"b"}`)
    const message = `${FIELD}.${kind}: unknown option, expected one of prefix, glob, cidr, not`
    expect(() => compileCondition(condition, FIELD)).toThrow(
      expect.objectContaining({ code: 'ERR_UNKNOWN_OPTION', field: `${FIELD}.${kind}`, message }),
    )
  })
})

// The kind of fault: two rules that do the same are told apart by how they are written, or two that differ are not.
describe('the JSON of a condition', () => {
  const same: [json: string, ...spellings: Condition[]][] = [
    ['{"kind":"exact","values":["a"]}', 'a', ['a'], ['a', 'a']],
    ['{"kind":"exact","values":["a","b"]}', ['b', 'a'], ['a', 'b', 'a']],
    ['{"kind":"prefix","values":["/a"]}', { prefix: '/a' }, { prefix: ['/a/b', '/a', '/ab'] }],
    ['{"kind":"glob","values":["/*","/a"]}', { glob: ['/a', '/*'] }, { glob: ['/*', '/a', '/a'] }],
    ['{"kind":"cidr","values":["10.0.0.0/8"]}', { cidr: '10.0.0.0/8' }, { cidr: ['10.1.2.3', '::ffff:a00:0/104'] }],
    ['{"kind":"cidr","values":["1.2.3.4/32","2001:db8::/32"]}', { cidr: ['2001:0DB8:0::/32', '::ffff:1.2.3.4'] }],
    ['{"kind":"not","condition":{"kind":"exact","values":["a"]}}', { not: 'a' }, { not: ['a', 'a'] }],
  ]
  test.each(same)('%s', (json, ...spellings) => {
    for (const spelling of spellings) expect(JSON.stringify(compileCondition(spelling, FIELD))).toBe(json)
  })
})
