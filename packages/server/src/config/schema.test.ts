import { expect, test } from 'vitest'
import { type BrokenFile, errorsOf, RULE_FIELDS, rule } from '../testing/config-errors.ts'

const broken: BrokenFile[] = [
  ['an empty file', '', '1:1: the file is empty, expected a mapping with rules, forwardAuth, store, denyStatus'],
  [
    'only comments',
    '# later\n',
    '1:1: the file is empty, expected a mapping with rules, forwardAuth, store, denyStatus',
  ],
  ['a text', 'hello\n', '1:1: the file is "hello", expected a mapping with rules, forwardAuth, store, denyStatus'],
  [
    'another kind of file',
    '<!doctype html>\n<p class="x">hi</p>\n',
    '1:1: the file is "<!doctype html> <p class=\\"x\\">hi</p>", expected a mapping with rules, forwardAuth, store, denyStatus',
  ],
  ['a list', '- a\n', '1:1: the file is a list, expected a mapping with rules, forwardAuth, store, denyStatus'],
  ['no rules', 'denyStatus: 403\n', '1:1: rules is missing, expected a list of rules'],
  ['rules left empty', 'rules:\n', '1:7: rules is empty, expected a list of rules'],
  ['rules without a rule', 'rules: []\n', '1:8: rules is an empty list, expected at least one rule'],
  ['rules as a mapping', 'rules:\n  a: 1\n', '2:3: rules is a mapping, expected a list of rules'],
  ['a rule left empty', 'rules:\n  -\n', `2:4: rules[0] is empty, expected a mapping with ${RULE_FIELDS}`],
  [
    'an unknown key',
    `${rule('limit: 1', 'window: 1s')}\nrule: []\n`,
    '5:1: rule does not exist, expected one of rules, forwardAuth, store, denyStatus',
  ],
  [
    'an unknown key of a rule',
    rule('limit: 1', 'window: 1s', 'limt: 2'),
    `5:5: rules[0].limt does not exist, expected one of ${RULE_FIELDS}`,
  ],
  [
    '__proto__',
    rule('limit: 1', 'window: 1s', '__proto__: {}'),
    `5:5: rules[0].__proto__ does not exist, expected one of ${RULE_FIELDS}`,
  ],
  [
    'a merge key',
    `x: &x\n  limit: 1\n${rule('<<: *x', 'window: 1s')}`,
    '1:1: x does not exist, expected one of rules, forwardAuth, store, denyStatus',
    `5:5: rules[0]["<<"] does not exist, expected one of ${RULE_FIELDS}`,
  ],
  ['no name', 'rules:\n  - limit: 1\n    window: 1s\n', '2:5: rules[0].name is missing, expected a string'],
  ['no limit', rule('window: 1s'), '2:5: rules[0].limit is missing, expected a whole number from 0 to 4,294,967,295'],
  [
    'no window',
    rule('limit: 1'),
    "2:5: rules[0].window is missing, expected whole milliseconds or a duration such as '250ms', '1s', '1m', '1h', '7d', from 1 ms to 366 days",
  ],
  [
    'a limit that is no number',
    rule('limit: .nan', 'window: 1s'),
    '3:12: rules[0].limit is NaN, expected a whole number from 0 to 4,294,967,295',
  ],
  [
    'a limit as text',
    rule('limit: "10"', 'window: 1s'),
    '3:12: rules[0].limit is "10", expected a whole number from 0 to 4,294,967,295',
  ],
  [
    'a limit with separators',
    rule('limit: 1_000', 'window: 1s'),
    '3:12: rules[0].limit is "1_000", expected a whole number from 0 to 4,294,967,295',
  ],
  [
    'a name that is a number',
    'rules:\n  - name: 7\n    limit: 1\n    window: 1s\n',
    '2:11: rules[0].name is 7, expected a string',
  ],
  [
    'a match on a number',
    rule('limit: 1', 'window: 1s', 'match: { port: 80 }'),
    '5:20: rules[0].match.port is 80, expected a string, a list of strings, or a condition by prefix, glob, cidr or not',
  ],
  [
    'a key as text',
    rule('limit: 1', 'window: 1s', 'key: user'),
    '5:10: rules[0].key is "user", expected a list of dimensions',
  ],
  [
    'a description as list',
    rule('limit: 1', 'window: 1s', 'description: [x]'),
    '5:18: rules[0].description is a list, expected a string',
  ],
  [
    'a deny status that no gateway takes',
    'rules: [{ name: a, limit: 1, window: 1s }]\ndenyStatus: 200\n',
    '2:13: denyStatus is 200, expected one of 401, 403, 429',
  ],
  [
    'a header without a name',
    'rules: [{ name: a, limit: 1, window: 1s }]\nforwardAuth:\n  headers:\n    user: "x user"\n',
    '4:11: forwardAuth.headers.user is "x user", expected the name of a header',
  ],
  [
    'a header for the address',
    'rules: [{ name: a, limit: 1, window: 1s }]\nforwardAuth:\n  headers: { ip: cf-connecting-ip }\n',
    "3:14: forwardAuth.headers.ip cannot be a dimension here, expected a dimension other than route, method, host, ip: a letter, then letters, digits, '_', '-' or '.'",
  ],
  [
    'an unknown key of forwardAuth',
    'rules: [{ name: a, limit: 1, window: 1s }]\nforwardAuth: { header: {} }\n',
    '2:16: forwardAuth.header does not exist, expected one of headers',
  ],
  [
    '__proto__ in the file',
    'rules: [{ name: a, limit: 1, window: 1s }]\n__proto__: { rules: [] }\n',
    '2:1: __proto__ does not exist, expected one of rules, forwardAuth, store, denyStatus',
  ],
  [
    '__proto__ in forwardAuth',
    'rules: [{ name: a, limit: 1, window: 1s }]\nforwardAuth: { __proto__: { headers: {} } }\n',
    '2:16: forwardAuth.__proto__ does not exist, expected one of headers',
  ],
  [
    '__proto__ as a dimension of a header',
    'rules: [{ name: a, limit: 1, window: 1s }]\nforwardAuth:\n  headers: { user: x-user, __proto__: x-proto }\n',
    "3:28: forwardAuth.headers.__proto__ cannot be a dimension here, expected a dimension other than route, method, host, ip: a letter, then letters, digits, '_', '-' or '.'",
  ],
  [
    '__proto__ in JSON',
    '{"rules": [{"name":"a","limit":1,"window":"1s"}], "forwardAuth": {"headers": {"__proto__": "x"}}}',
    "1:79: forwardAuth.headers.__proto__ cannot be a dimension here, expected a dimension other than route, method, host, ip: a letter, then letters, digits, '_', '-' or '.'",
  ],
  [
    'two mistakes in one entry',
    'rules: [{ name: a, limit: 1, window: 1s }]\nforwardAuth:\n  headers: { 1: [] }\n',
    "3:14: forwardAuth.headers.1 cannot be a dimension here, expected a dimension other than route, method, host, ip: a letter, then letters, digits, '_', '-' or '.'",
    '3:17: forwardAuth.headers.1 is an empty list, expected the name of a header',
  ],
  [
    'headers as a list',
    'rules: [{ name: a, limit: 1, window: 1s }]\nforwardAuth: { headers: [x] }\n',
    '2:25: forwardAuth.headers is a list, expected dimensions and the headers that give them',
  ],
  [
    'a match as text',
    rule('limit: 1', 'window: 1s', 'match: /order'),
    '5:12: rules[0].match is "/order", expected dimensions and the values to match',
  ],
  [
    'a match with an unusual name on a number',
    rule('limit: 1', 'window: 1s', 'match: { "a b": 80 }'),
    '5:21: rules[0].match["a b"] is 80, expected a string, a list of strings, or a condition by prefix, glob, cidr or not',
  ],
]

test.each(broken)('%s', (_mistake, file, ...errors) => {
  expect(errorsOf(file)).toEqual(errors)
})
