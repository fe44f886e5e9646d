import { expect, test } from 'vitest'
import { type BrokenFile, errorsOf, rule } from '../testing/config-errors.ts'

const DURATION = "whole milliseconds or a duration such as '250ms', '1s', '1m', '1h', '7d', from 1 ms to 366 days"
const KEY = 'a string of 1 to 4096 characters without control characters or braces'

const broken: BrokenFile[] = [
  [
    'a negative limit',
    rule('limit: -1', 'window: 1s'),
    '3:12: rules[0].limit is -1, expected a whole number from 0 to 4,294,967,295',
  ],
  [
    'a fractional limit',
    rule('limit: 1.5', 'window: 1s'),
    '3:12: rules[0].limit is 1.5, expected a whole number from 0 to 4,294,967,295',
  ],
  [
    'a huge limit',
    rule('limit: 4294967296', 'window: 1s'),
    '3:12: rules[0].limit is 4294967296, expected a whole number from 0 to 4,294,967,295',
  ],
  [
    'an error in each field',
    'rules:\n  - { name: a b, match: { a: "" }, key: [u, u], limit: -1, window: 0, algorithm: magic }\n',
    `2:13: rules[0].name is "a b", expected 1 to 64 letters, digits, '_', '-' or '.', beginning with a letter or digit`,
    `2:30: rules[0].match.a is "", expected ${KEY}`,
    '2:45: rules[0].key[1] is "u", expected each dimension once',
    '2:56: rules[0].limit is -1, expected a whole number from 0 to 4,294,967,295',
    `2:68: rules[0].window is 0, expected ${DURATION}`,
    '2:82: rules[0].algorithm is "magic", expected one of sliding-window, sliding-log, sliding-counter, fixed-window, token-bucket, concurrency, quota, gcra',
  ],
  ['a window without sense', rule('limit: 1', 'window: soon'), `4:13: rules[0].window is "soon", expected ${DURATION}`],
  ['a window of nothing', rule('limit: 1', 'window: 0'), `4:13: rules[0].window is 0, expected ${DURATION}`],
  ['a window of years', rule('limit: 1', 'window: 367d'), `4:13: rules[0].window is "367d", expected ${DURATION}`],
  [
    'more entries than fit',
    rule('limit: 5000000', 'window: 1d'),
    '3:12: rules[0].limit is 5000000, expected a limit, a window or a resolution that needs at most 4,000,000 entries for a key',
  ],
  [
    'an unknown algorithm',
    rule('limit: 1', 'window: 1s', 'algorithm: magic'),
    '5:16: rules[0].algorithm is "magic", expected one of sliding-window, sliding-log, sliding-counter, fixed-window, token-bucket, concurrency, quota, gcra',
  ],
  [
    'a name with a space',
    'rules:\n  - name: a b\n    limit: 1\n    window: 1s\n',
    `2:11: rules[0].name is "a b", expected 1 to 64 letters, digits, '_', '-' or '.', beginning with a letter or digit`,
  ],
  [
    'a repeated name',
    `${rule('limit: 1', 'window: 1s')}\n  - name: a\n    limit: 2\n    window: 1s\n`,
    '5:11: rules[1].name is "a", as rules[0].name is, expected a name that no other rule has',
  ],
  [
    'a match on a key with braces',
    rule('limit: 1', 'window: 1s', 'match: { a.b: "{x}" }'),
    `5:19: rules[0].match.a.b is "{x}", expected ${KEY}`,
  ],
  [
    'a match on nothing',
    rule('limit: 1', 'window: 1s', 'match: { a: "" }'),
    `5:17: rules[0].match.a is "", expected ${KEY}`,
  ],
  [
    'a dimension twice',
    rule('limit: 1', 'window: 1s', 'key: [user, user]'),
    '5:17: rules[0].key[1] is "user", expected each dimension once',
  ],
  [
    'a dimension of control characters',
    rule('limit: 1', 'window: 1s', 'key: [a, "b\\n"]'),
    `5:14: rules[0].key[1] is "b\\n", expected ${KEY}`,
  ],
  [
    'a match on __proto__ with nothing',
    rule('limit: 1', 'window: 1s', 'match: { __proto__: "" }'),
    `5:25: rules[0].match.__proto__ is "", expected ${KEY}`,
  ],
  [
    'a match on __proto__ with a mapping',
    rule('limit: 1', 'window: 1s', 'match: { __proto__: { a: b } }'),
    '5:27: rules[0].match.__proto__.a does not exist, expected one of prefix, glob, cidr, not',
  ],
  [
    'a match of an unusual name with nothing, behind another',
    rule('limit: 1', 'window: 1s', 'match: { a: x, "a b": "", c: "" }'),
    `5:27: rules[0].match["a b"] is "", expected ${KEY}`,
  ],
  [
    'a match of a name with quotes and brackets',
    rule('limit: 1', 'window: 1s', `match: { '"]["': '{' }`),
    `5:22: rules[0].match["\\"][\\""] is "{", expected ${KEY}`,
  ],
  [
    'a match of a long name',
    rule('limit: 1', 'window: 1s', 'match:', `  ${'n'.repeat(80)}: "{"`),
    `6:89: rules[0].match["${'n'.repeat(40)}"… (80 characters)] is "{", expected ${KEY}`,
  ],
  [
    'a match of a name that cannot be',
    rule('limit: 1', 'window: 1s', 'match: { a: x, "{": "" }'),
    `5:20: rules[0].match has the dimension "{", expected ${KEY}`,
  ],
]

test.each(broken)('%s', (_mistake, file, ...errors) => {
  expect(errorsOf(file)).toEqual(errors)
})
