import { expect, test } from 'vitest'
import { type BrokenFile, errorsOf } from '../testing/config-errors.ts'

const FORM = 'a string, a list of strings, or a condition by prefix, glob, cidr or not'
const KEY = 'a string of 1 to 4096 characters without control characters or braces'
const WHOLE = 'a whole number from 0 to 4,294,967,295'
const DIMENSION = 'at least one dimension and its condition'

/** A file with one rule, whose fields are on line 2. */
const rule = (fields: string, limit = 'limit: 1') => `rules:\n  - { ${fields}, name: a, ${limit}, window: 1s }\n`
const override = (fields: string) => rule(`overrides: [{ ${fields} }]`)
const other = (field: string) =>
  `the ${field} of the rule, or none: with another one it would be another count; ` +
  'write a rule of its own for these requests, and `skip` them here'

const broken: BrokenFile[] = [
  // Overrides.
  [
    'overrides as a mapping',
    rule('overrides: { user: a, limit: 1 }'),
    '2:18: rules[0].overrides is a mapping, expected a list of overrides',
  ],
  [
    'an override as text',
    rule('overrides: [vip]'),
    '2:19: rules[0].overrides[0] is "vip", expected a mapping with dimensions, their conditions, and a limit',
  ],
  ['an empty override', rule('overrides: [{}]'), `2:19: rules[0].overrides[0] is a mapping, expected ${DIMENSION}`],
  [
    'an override for everybody',
    override('limit: 5'),
    `2:19: rules[0].overrides[0] is a mapping, expected ${DIMENSION}`,
  ],
  [
    'an override without a limit',
    override('user: vip'),
    '2:19: rules[0].overrides[0] is a mapping, expected one of limit, capacity, refill, burst, or unlimited: true',
  ],
  [
    'a negative limit in an override, behind a good one',
    rule('overrides: [{ user: vip, limit: 5 }, { user: bad, limit: -1 }]'),
    `2:64: rules[0].overrides[1].limit is -1, expected ${WHOLE}`,
  ],
  [
    'a limit as text in an override',
    override('user: vip, limit: "5"'),
    `2:39: rules[0].overrides[0].limit is "5", expected ${WHOLE}`,
  ],
  [
    'a misspelt limit in an override, which is a dimension then',
    override('user: vip, limti: 5'),
    `2:39: rules[0].overrides[0].limti is 5, expected ${FORM}`,
  ],
  [
    'a condition that cannot be, in an override',
    override('limit: 5, tenant: { prefx: t- }'),
    '2:41: rules[0].overrides[0].tenant.prefx does not exist, expected one of prefix, glob, cidr, not',
  ],
  [
    'a value that cannot be, in a list of an override of an unusual name',
    override('limit: 5, "a b": [x, ""]'),
    `2:42: rules[0].overrides[0]["a b"][1] is "", expected ${KEY}`,
  ],
  [
    'a dimension that cannot be, in an override',
    override('limit: 5, "{": x'),
    `2:31: rules[0].overrides[0] has the dimension "{", expected ${KEY}`,
  ],
  [
    'another window in an override',
    override('user: vip, limit: 5, window: 1m'),
    `2:50: rules[0].overrides[0].window is "1m", expected ${other('window')}`,
  ],
  [
    'another algorithm in an override',
    override('user: vip, limit: 5, algorithm: sliding-log'),
    `2:53: rules[0].overrides[0].algorithm is "sliding-log", expected ${other('algorithm')}`,
  ],
  [
    'an amount in an override that the algorithm has not',
    override('user: vip, burst: 5'),
    '2:39: rules[0].overrides[0].burst is 5, expected none with the algorithm sliding-window, which has window, resolution',
  ],
  [
    'an unlimited override with a limit',
    override('user: vip, unlimited: true, limit: 5'),
    '2:56: rules[0].overrides[0].limit is 5, expected none with unlimited: true',
  ],
  [
    'an override of a rule without limit',
    'rules:\n  - { name: a, unlimited: true, overrides: [{ user: bad, limit: 5 }] }\n',
    '2:65: rules[0].overrides[0].limit is 5, expected none, because the rule has no limit to override: write its limit and window beside unlimited',
  ],

  // Skip.
  [
    'skip as text',
    rule('skip: root'),
    '2:13: rules[0].skip is "root", expected an object that gives dimensions the values to match',
  ],
  ['an empty skip', rule('skip: {}'), `2:13: rules[0].skip is a mapping, expected ${DIMENSION}`],
  [
    'a skip of nothing',
    rule('skip: []'),
    '2:13: rules[0].skip is an empty list, expected at least one set of conditions',
  ],
  ['an empty set in skip', rule('skip: [{ a: x }, {}]'), `2:24: rules[0].skip[1] is a mapping, expected ${DIMENSION}`],
  ['a number in skip', rule('skip: { port: 80 }'), `2:21: rules[0].skip.port is 80, expected ${FORM}`],
  [
    'a number in a set in skip',
    rule('skip: [{ a: x }, { port: 80 }]'),
    `2:32: rules[0].skip[1].port is 80, expected ${FORM}`,
  ],
  [
    'an unknown condition in skip',
    rule('skip: { a: { not: { regex: x } } }'),
    '2:27: rules[0].skip.a.not.regex does not exist, expected one of prefix, glob, cidr, not',
  ],

  // Flags.
  ...['unlimited', 'shadow', 'required'].map((flag): BrokenFile => {
    const column = 9 + flag.length
    return [`${flag} as text`, rule(`${flag}: "yes"`), `2:${column}: rules[0].${flag} is "yes", expected true or false`]
  }),

  // Cost.
  ['a cost as number', rule('cost: 5'), '2:13: rules[0].cost is 5, expected a string'],
  ['a cost that is no dimension', rule('cost: "{"'), `2:13: rules[0].cost is "{", expected ${KEY}`],

  // Limits.
  [
    'a limit without a default',
    rule('key: [a]', 'limit: { dimension: plan }'),
    `2:33: rules[0].limit.default is missing, expected ${WHOLE}`,
  ],
  [
    'a default that is none',
    rule('key: [a]', 'limit: { dimension: plan, default: many }'),
    `2:61: rules[0].limit.default is "many", expected ${WHOLE}`,
  ],
  [
    'a limit from a dimension that cannot be',
    rule('key: [a]', 'limit: { dimension: "", default: 5 }'),
    `2:46: rules[0].limit.dimension is "", expected ${KEY}`,
  ],
  [
    'an unknown field of a limit',
    rule('key: [a]', 'limit: { dimension: plan, default: 5, most: 9 }'),
    '2:64: rules[0].limit.most does not exist, expected one of dimension, default',
  ],
  ['a limit as a list', rule('key: [a]', 'limit: [5]'), `2:33: rules[0].limit is a list, expected ${WHOLE}`],
  [
    'a default that the window cannot hold',
    'rules:\n  - { name: a, limit: { dimension: plan, default: 5000000 }, window: 1d }\n',
    '2:23: rules[0].limit is a mapping, expected a limit, a window or a resolution that needs at most 4,000,000 entries for a key',
  ],
  [
    'an unlimited rule with half a limit',
    'rules:\n  - { name: a, unlimited: true, window: 1d }\n',
    `2:5: rules[0].limit is missing, expected ${WHOLE}`,
  ],
  [
    'a mistake in each',
    rule('overrides: [{ a: x }], skip: {}, cost: ""', 'limit: -1'),
    '2:19: rules[0].overrides[0] is a mapping, expected one of limit, capacity, refill, burst, or unlimited: true',
    `2:36: rules[0].skip is a mapping, expected ${DIMENSION}`,
    `2:46: rules[0].cost is "", expected ${KEY}`,
    `2:66: rules[0].limit is -1, expected ${WHOLE}`,
  ],
]

test.each(broken)('%s', (_mistake, file, ...errors) => {
  expect(errorsOf(file)).toEqual(errors)
})

test('what the language allows has no errors', () => {
  const good = `
rules:
  - name: hourly
    key: [user]
    limit: { dimension: plan_limit, default: 10 }
    window: 1h
    overrides:
      - { user: vip-1, limit: 100 }
      - { tenant: { prefix: t- }, user: [a, b], unlimited: true }
    skip: [{ route: /health }, { ip: { cidr: 10.0.0.0/8 } }]
    cost: tokens
    required: true
    shadow: true
  - { name: open, match: { user: root }, unlimited: true }
`
  expect(errorsOf(good)).toEqual([])
})
