import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { exampleConfigFile } from '../settings/settings.ts'
import { loadConfig } from './load-config.ts'
import { formatProblem } from './problem.ts'

const folder = mkdtempSync(join(tmpdir(), 'tidegate-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const RULE_FIELDS = 'name, match, key, limit, window, algorithm, description'
const DURATION = "whole milliseconds or a duration such as '250ms', '1s', '1m', '1h', '7d', from 1 ms to 366 days"
const KEY = 'a string of 1 to 4096 characters without control characters or braces'

/** A file with one rule, whose lines below `name` are given. */
function rule(...lines: string[]): string {
  return ['rules:', '  - name: a', ...lines.map((line) => `    ${line}`)].join('\n')
}

const bomb = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...['ab', 'bc', 'cd', 'de', 'ef'].map(([from, to]) => `${to}: &${to} [${Array(9).fill(`*${from}`).join(',')}]`),
].join('\n')

/** One broken file for each mistake, and every line that it must be answered with. */
const broken: [mistake: string, file: string | Uint8Array, ...errors: string[]][] = [
  ['an empty file', '', '1:1: the file is empty, expected a mapping with rules, forwardAuth, denyStatus'],
  ['only comments', '# later\n', '1:1: the file is empty, expected a mapping with rules, forwardAuth, denyStatus'],
  ['a text', 'hello\n', '1:1: the file is "hello", expected a mapping with rules, forwardAuth, denyStatus'],
  [
    'another kind of file',
    '<!doctype html>\n<p class="x">hi</p>\n',
    '1:1: the file is "<!doctype html> <p class=\\"x\\">hi</p>", expected a mapping with rules, forwardAuth, denyStatus',
  ],
  ['a list', '- a\n', '1:1: the file is a list, expected a mapping with rules, forwardAuth, denyStatus'],
  ['no rules', 'denyStatus: 403\n', '1:1: rules is missing, expected a list of rules'],
  ['rules left empty', 'rules:\n', '1:7: rules is empty, expected a list of rules'],
  ['rules as a mapping', 'rules:\n  a: 1\n', '2:3: rules is a mapping, expected a list of rules'],
  ['a rule left empty', 'rules:\n  -\n', `2:4: rules[0] is empty, expected a mapping with ${RULE_FIELDS}`],
  [
    'an unknown key',
    `${rule('limit: 1', 'window: 1s')}\nrule: []\n`,
    '5:1: rule does not exist, expected one of rules, forwardAuth, denyStatus',
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
    '1:1: x does not exist, expected one of rules, forwardAuth, denyStatus',
    '4:5: rules[0].limit is missing, expected a whole number',
    `5:5: rules[0].<< does not exist, expected one of ${RULE_FIELDS}`,
  ],
  ['no name', 'rules:\n  - limit: 1\n    window: 1s\n', '2:5: rules[0].name is missing, expected a string'],
  ['no limit', rule('window: 1s'), '2:5: rules[0].limit is missing, expected a whole number'],
  [
    'no window',
    rule('limit: 1'),
    "2:5: rules[0].window is missing, expected milliseconds or a duration such as '1s', '1m', '1h', '7d'",
  ],
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
    'a limit that is no number',
    rule('limit: .nan', 'window: 1s'),
    '3:12: rules[0].limit is NaN, expected a whole number',
  ],
  ['a limit as text', rule('limit: "10"', 'window: 1s'), '3:12: rules[0].limit is "10", expected a whole number'],
  [
    'a limit with separators',
    rule('limit: 1_000', 'window: 1s'),
    '3:12: rules[0].limit is "1_000", expected a whole number',
  ],
  ['a window without sense', rule('limit: 1', 'window: soon'), `4:13: rules[0].window is "soon", expected ${DURATION}`],
  ['a window of nothing', rule('limit: 1', 'window: 0'), `4:13: rules[0].window is 0, expected ${DURATION}`],
  ['a window of years', rule('limit: 1', 'window: 367d'), `4:13: rules[0].window is "367d", expected ${DURATION}`],
  [
    'more entries than fit',
    rule('limit: 5000000', 'window: 1d'),
    '3:12: rules[0].limit is 5000000, expected a limit or a window that needs at most 4,000,000 entries for a key',
  ],
  [
    'an unknown algorithm',
    rule('limit: 1', 'window: 1s', 'algorithm: magic'),
    '5:16: rules[0].algorithm is "magic", expected one of sliding-window',
  ],
  [
    'a name with a space',
    'rules:\n  - name: a b\n    limit: 1\n    window: 1s\n',
    `2:11: rules[0].name is "a b", expected 1 to 64 letters, digits, '_', '-' or '.', beginning with a letter or digit`,
  ],
  [
    'a name that is a number',
    'rules:\n  - name: 7\n    limit: 1\n    window: 1s\n',
    '2:11: rules[0].name is 7, expected a string',
  ],
  [
    'a repeated name',
    `${rule('limit: 1', 'window: 1s')}\n  - name: a\n    limit: 2\n    window: 1s\n`,
    '5:11: rules[1].name is "a", as rules[0].name is, expected a name that no other rule has',
  ],
  [
    'a match on a number',
    rule('limit: 1', 'window: 1s', 'match: { port: 80 }'),
    '5:20: rules[0].match.port is 80, expected a string',
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
    'a key as text',
    rule('limit: 1', 'window: 1s', 'key: user'),
    '5:10: rules[0].key is "user", expected a list of dimensions',
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
    'a description as list',
    rule('limit: 1', 'window: 1s', 'description: [x]'),
    '5:18: rules[0].description is a list, expected a string',
  ],
  [
    'a deny status that no gateway takes',
    'rules: []\ndenyStatus: 200\n',
    '2:13: denyStatus is 200, expected one of 401, 403, 429',
  ],
  [
    'a header without a name',
    'rules: []\nforwardAuth:\n  headers:\n    user: "x user"\n',
    '4:11: forwardAuth.headers.user is "x user", expected the name of a header',
  ],
  [
    'a header for the address',
    'rules: []\nforwardAuth:\n  headers: { ip: cf-connecting-ip }\n',
    "3:14: forwardAuth.headers.ip cannot be a dimension here, expected a dimension other than route, method, host, ip: a letter, then letters, digits, '_', '-' or '.'",
  ],
  [
    'an unknown key of forwardAuth',
    'rules: []\nforwardAuth: { header: {} }\n',
    '2:16: forwardAuth.header does not exist, expected one of headers',
  ],
  [
    'a repeated key',
    rule('limit: 1', 'window: 1s', 'limit: 2'),
    '5:5: a key that stands there already, expected each key once',
  ],
  [
    'a repeated key in JSON',
    '{"rules": [],\n "rules": []}',
    '2:2: a key that stands there already, expected each key once',
  ],
  ['two documents', 'rules: []\n---\nrules: []\n', '2:1: a second document, expected one document in the file'],
  [
    'tabs as indentation',
    'rules:\n\t- name: a\n',
    '2:1: not readable: Tabs are not allowed as indentation, expected YAML or JSON',
  ],
  [
    'JSON that ends early',
    '{"rules": [',
    '1:12: not readable: Flow sequence in block collection must be sufficiently indented and end with a ], expected YAML or JSON',
    '1:12: not readable: Flow map must end with a }, expected YAML or JSON',
  ],
  [
    'an unknown tag',
    'rules: !include other.yaml\n',
    '1:8: not readable: Unresolved tag: !include, expected YAML or JSON',
  ],
  [
    'an alias of nothing',
    'rules: *none\n',
    '1:1: aliases that cannot be followed: Unresolved alias (the anchor must be set before the alias): none, expected aliases of anchors above them, and few',
  ],
  ['an alias of itself', 'rules: &all [*all]\n', `1:13: rules[0] is a list, expected a mapping with ${RULE_FIELDS}`],
  [
    'aliases that explode',
    bomb,
    '1:1: aliases that cannot be followed: Excessive alias count indicates a resource exhaustion attack, expected aliases of anchors above them, and few',
  ],
  [
    'bytes that are not UTF-8',
    Buffer.concat([Buffer.from('rules:\n  - name: ä'), Buffer.from([0xe4, 0x0a])]),
    '2:12: a byte that is not UTF-8, expected a YAML or JSON file in UTF-8',
  ],
  [
    'a program',
    Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]),
    '1:1: a control character, expected a YAML or JSON file in UTF-8',
  ],
  [
    'UTF-16',
    Buffer.from('\ufeffrules: []', 'utf16le'),
    '1:1: a byte that is not UTF-8, expected a YAML or JSON file in UTF-8',
  ],
  ['NUL', 'rules: []\n# \0\n', '2:3: a control character, expected a YAML or JSON file in UTF-8'],
  [
    'many mistakes, in the order of the file',
    'rules:\n  - name: a\n    limit: x\n    window: 1s\n  - name: b\n    limit: -1\n    window: 1s\n  - nam: c\ndenyStatus: 1\n',
    '3:12: rules[0].limit is "x", expected a whole number',
    '6:12: rules[1].limit is -1, expected a whole number from 0 to 4,294,967,295',
    '8:5: rules[2].name is missing, expected a string',
    '8:5: rules[2].limit is missing, expected a whole number',
    "8:5: rules[2].window is missing, expected milliseconds or a duration such as '1s', '1m', '1h', '7d'",
    `8:5: rules[2].nam does not exist, expected one of ${RULE_FIELDS}`,
    '9:13: denyStatus is 1, expected one of 401, 403, 429',
  ],
]

function errorsOf(file: string): string[] {
  const loaded = loadConfig(file)
  return 'problems' in loaded ? loaded.problems.map((problem) => formatProblem(file, problem)) : []
}

describe('a broken file is answered with each mistake, its place and what was expected', () => {
  test.each(broken)('%s', (_mistake, content, ...errors) => {
    const file = join(folder, 'rules.yaml')
    writeFileSync(file, content)
    expect(errorsOf(file)).toEqual(errors.map((error) => `${file}:${error}`))
  })

  test('a file that is not there', () => {
    const file = join(folder, 'none.yaml')
    expect(errorsOf(file)).toEqual([
      `${file}:1:1: the file cannot be read (there is no such file), expected a YAML or JSON file in UTF-8`,
    ])
  })

  test('a folder', () => {
    expect(errorsOf(folder)).toEqual([
      `${folder}:1:1: the file cannot be read (it is a directory), expected a YAML or JSON file in UTF-8`,
    ])
  })
})

describe('a good file', () => {
  const good: [string, string][] = [
    ['YAML', 'rules:\n  - { name: a, match: { route: /a }, key: [user], limit: 1, window: 1s }\n'],
    ['JSON', '{"rules":[{"name":"a","match":{"route":"/a"},"key":["user"],"limit":1,"window":"1s"}]}'],
    [
      'JSON with tabs',
      '{\n\t"rules": [\n\t\t{"name":"a","match":{"route":"/a"},\n\t\t"key":["user"],"limit":1,"window":"1s"}\n\t]\n}',
    ],
    ['a byte order mark', '\ufeffrules: [{ name: a, match: { route: /a }, key: [user], limit: 1, window: 1s }]'],
    [
      'Windows line ends',
      'rules:\r\n  - name: a\r\n    match: { route: /a }\r\n    key: [user]\r\n    limit: 1\r\n    window: 1s\r\n',
    ],
  ]
  test.each(good)('%s', (_name, content) => {
    const file = join(folder, 'good.yaml')
    writeFileSync(file, content)
    const rule = { name: 'a', match: { route: '/a' }, key: ['user'], limit: 1, window: '1s' }
    expect(loadConfig(file)).toEqual({ config: { rules: [rule], headers: {}, denyStatus: 429 } })
  })

  test('says which headers give dimensions, in lower case, and what a refusal is', () => {
    const file = join(folder, 'auth.yaml')
    writeFileSync(file, 'rules: []\nforwardAuth: { headers: { user: X-User-Id } }\ndenyStatus: 403\n')
    expect(loadConfig(file)).toEqual({ config: { rules: [], headers: { user: 'x-user-id' }, denyStatus: 403 } })
  })

  test('is shipped as the example', () => {
    expect(errorsOf(exampleConfigFile)).toEqual([])
  })
})
