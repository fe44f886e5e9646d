import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGate, type Descriptor } from 'tidegate'
import { afterAll, describe, expect, test } from 'vitest'
import { exampleConfigFile } from '../settings/settings.ts'
import { errorsOf, RULE_FIELDS } from '../testing/config-errors.ts'
import { loadConfig } from './load-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'tidegate-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('many mistakes are listed in the order of the file', () => {
  const file =
    'rules:\n  - name: a\n    limit: x\n    window: 1s\n  - name: b\n    limit: -1\n    window: 1s\n  - nam: c\ndenyStatus: 1\n'
  expect(errorsOf(file)).toEqual([
    '3:12: rules[0].limit is "x", expected a whole number from 0 to 4,294,967,295',
    '6:12: rules[1].limit is -1, expected a whole number from 0 to 4,294,967,295',
    '8:5: rules[2].name is missing, expected a string',
    `8:5: rules[2].nam does not exist, expected one of ${RULE_FIELDS}`,
    '9:13: denyStatus is 1, expected one of 401, 403, 429',
  ])
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
    expect(loadConfig(file)).toMatchObject({ config: { rules: [rule], headers: {}, denyStatus: 429 } })
  })

  test('says which headers give dimensions, in lower case, and what a refusal is', () => {
    const file = join(folder, 'auth.yaml')
    writeFileSync(
      file,
      'rules: [{ name: a, limit: 1, window: 1s }]\nforwardAuth: { headers: { user: X-User-Id } }\ndenyStatus: 403\n',
    )
    expect(loadConfig(file)).toMatchObject({
      config: { rules: [{ name: 'a', limit: 1, window: '1s' }], headers: { user: 'x-user-id' }, denyStatus: 403 },
    })
  })

  test('may match on __proto__, a name like any other', () => {
    const file = join(folder, 'proto.yaml')
    writeFileSync(file, 'rules: [{ name: a, match: { __proto__: x, user: u }, limit: 1, window: 1s }]\n')
    const loaded = loadConfig(file)
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    const gate = createGate({ rules: loaded.config.rules })
    expect(gate.rules.map(({ match }) => match.map(([dimension, { matches }]) => [dimension, matches('x')]))).toEqual([
      [
        ['__proto__', true],
        ['user', false],
      ],
    ])
    expect(gate.limitSync({ user: 'u' }).reason).toBe('no_rule')
    expect(gate.limitSync(JSON.parse('{"__proto__":"x","user":"u"}') as Descriptor).rule).toBe('a')
  })

  test('is shipped as the example', () => {
    expect(loadConfig(exampleConfigFile)).toHaveProperty('config')
  })
})
