import { expect, test } from 'vitest'
import { type BrokenFile, errorsOf, RULE_FIELDS, rule } from '../testing/config-errors.ts'

const bomb = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...['ab', 'bc', 'cd', 'de', 'ef'].map(([from, to]) => `${to}: &${to} [${Array(9).fill(`*${from}`).join(',')}]`),
].join('\n')

const broken: BrokenFile[] = [
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
  [
    'a key that is repeated in another type',
    'rules: [{ name: a, match: { 1: a, "1": b }, limit: 1, window: 1s }]\n',
    '1:35: a key that stands there already, expected each key once',
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
]

test.each(broken)('%s', (_mistake, file, ...errors) => {
  expect(errorsOf(file)).toEqual(errors)
})
