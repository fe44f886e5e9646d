import { expect, test } from 'vitest'
import { type BrokenFile, errorsOf } from '../testing/config-errors.ts'

const FORM = 'a string, a list of strings, or a condition by prefix, glob, cidr or not'
const KEY = 'a string of 1 to 4096 characters without control characters or braces'
const ADDRESS = "an IP address or a network such as '10.0.0.0/8' or '2001:db8::/32'"
const KINDS = 'one of prefix, glob, cidr, not'

/** A file with one rule, whose conditions are on line 2. */
const match = (conditions: string) => `rules:\n  - { match: { ${conditions} }, name: a, limit: 1, window: 1s }\n`

const broken: BrokenFile[] = [
  ['a number', match('port: 80'), `2:22: rules[0].match.port is 80, expected ${FORM}`],
  ['nothing', match('a: '), `2:20: rules[0].match.a is empty, expected ${FORM}`],
  ['an empty list', match('a: []'), '2:19: rules[0].match.a is an empty list, expected at least one value'],
  ['an empty mapping', match('a: {}'), `2:19: rules[0].match.a is a mapping, expected ${FORM}`],
  ['a number in a list', match('a: [x, 80]'), `2:23: rules[0].match.a[1] is 80, expected ${KEY}`],
  ['a list in a list', match('a: [x, [y]]'), `2:23: rules[0].match.a[1] is a list, expected ${KEY}`],
  ['no prefix', match('a: { prefix: "" }'), `2:29: rules[0].match.a.prefix is "", expected ${KEY}`],
  ['no prefix in a list', match('a: { prefix: [x, ""] }'), `2:33: rules[0].match.a.prefix[1] is "", expected ${KEY}`],
  [
    'a glob that ends early',
    match("a: { glob: 'x\\' }"),
    '2:27: rules[0].match.a.glob is "x\\\\", expected a glob with a character behind its last backslash',
  ],
  ['a network that is none', match('ip: { cidr: lan }'), `2:28: rules[0].match.ip.cidr is "lan", expected ${ADDRESS}`],
  [
    'a network with an address in it, behind good ones',
    match("route: /a, ip: { not: { cidr: ['::1', 10.1.2.3/8] } }"),
    '2:54: rules[0].match.ip.not.cidr[1] is "10.1.2.3/8", expected the network 10.0.0.0/8, which has no bits beyond its prefix',
  ],
  ['an unknown kind', match('a: { regex: x }'), `2:21: rules[0].match.a.regex does not exist, expected ${KINDS}`],
  [
    'an unknown kind in a negation',
    match('a: { not: { prefx: x } }'),
    `2:28: rules[0].match.a.not.prefx does not exist, expected ${KINDS}`,
  ],
  [
    'an unknown kind of an unusual name',
    match('a: { not: { "not any": x } }'),
    `2:28: rules[0].match.a.not["not any"] does not exist, expected ${KINDS}`,
  ],
  [
    'an unknown kind __proto__',
    match('a: { __proto__: x }'),
    `2:21: rules[0].match.a.__proto__ does not exist, expected ${KINDS}`,
  ],
  [
    'two kinds',
    match('a: { prefix: x, glob: y }'),
    '2:19: rules[0].match.a is a mapping, expected one of prefix, glob alone: for any of several, a list in it or a rule for each; for all of several, a glob that says both',
  ],
  [
    'a negation of a negation',
    match('a: { not: { not: x } }'),
    '2:26: rules[0].match.a.not is a mapping, expected a condition other than not: not of not is the condition itself',
  ],
  [
    'a dimension that is named like another one and its kind',
    match('a.prefix: x, a: { prefix: "" }'),
    `2:42: rules[0].match.a.prefix is "", expected ${KEY}`,
  ],
  [
    'a dimension of an unusual name',
    match('"a b": { cidr: [x] }'),
    `2:32: rules[0].match["a b"].cidr[0] is "x", expected ${ADDRESS}`,
  ],
  [
    'a condition behind an alias',
    match('a: &x { prefix: "" }, b: *x'),
    `2:32: rules[0].match.a.prefix is "", expected ${KEY}`,
  ],
]

test.each(broken)('%s', (_mistake, file, ...errors) => {
  expect(errorsOf(file)).toEqual(errors)
})

test.each([
  ['a list', 'a: [x, y]'],
  ['a prefix', 'a: { prefix: /api/ }'],
  ['globs', 'a: { glob: [/users/*/orders, "*.html"] }'],
  ['networks', "a: { cidr: [10.0.0.0/8, '2001:db8::/32', '::1'] }"],
  ['a negation', 'a: { not: { prefix: [/static/, /assets/] } }'],
])('%s is no mistake', (_, conditions) => {
  expect(errorsOf(match(conditions))).toEqual([])
})
