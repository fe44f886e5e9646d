import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { exampleConfigFile } from '../settings/settings.ts'
import { configJsonSchema } from './json-schema.ts'
import { parseConfig } from './load-config.ts'

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
const reference = read('docs/reference/configuration.md')
const committed = JSON.parse(read('packages/server/config/rules.schema.json')) as object
const isValid = new Ajv({ allErrors: true }).compile(committed)
const ruleOf = (fields: string) => `rules: [{ name: a, ${fields} }]`

test('the committed schema is what the service checks by: `npm run build` writes it', () => {
  expect(committed).toEqual(JSON.parse(JSON.stringify(configJsonSchema(reference))))
})

test('every field is described, by the reference', () => {
  const missing: string[] = []
  const look = (node: Record<string, unknown>, path: string) => {
    if (path !== '' && !path.endsWith('[]') && node['description'] === undefined) missing.push(path)
    if (node['items'] !== undefined) look(node['items'] as Record<string, unknown>, `${path}[]`)
    for (const [name, field] of Object.entries(node['properties'] ?? {}))
      look(field, path === '' ? name : `${path}.${name}`)
  }
  look(committed as Record<string, unknown>, '')
  expect(missing).toEqual([])
})

describe('takes what the service takes', () => {
  const good: [string, string][] = [
    ['the example', readFileSync(exampleConfigFile, 'utf8')],
    ['the file of the reference', /```yaml\n([\s\S]*?)```/.exec(reference)?.[1] ?? ''],
    ['numbers for durations', ruleOf('limit: 4294967295, window: 31622400000, resolution: 86400000')],
    [
      'every kind of condition',
      ruleOf(
        `limit: 1, window: 1 s, match: { a: x, b: [x, y], c: { prefix: /a }, d: { glob: ['*', x] }, e: { cidr: '::1' }, f: { not: [x] }, g: { not: { glob: x } } }`,
      ),
    ],
    ['a bucket', ruleOf('limit: 1, window: 250ms, algorithm: token-bucket, capacity: 0, refill: 9')],
    ['a cell rate', ruleOf('limit: 1, period: 1m, algorithm: gcra, burst: 9')],
    ['a calendar', ruleOf('limit: 0, algorithm: fixed-window, align: month, timeZone: Europe/Berlin')],
    ['a quota', ruleOf('limit: 1, algorithm: quota, key: [user]')],
    ['no limit', 'rules: [{ name: a, unlimited: true }]'],
    [
      'a limit from a dimension, and a cost',
      ruleOf('limit: { dimension: plan, default: 0 }, window: 1s, cost: tokens'),
    ],
    [
      'exceptions',
      ruleOf(
        'limit: 1, window: 1s, required: true, shadow: true, skip: { user: x }, overrides: [{ user: y, limit: 2 }, { ip: { cidr: 10.0.0.0/8 }, unlimited: true, window: 1s }]',
      ),
    ],
    ['several sets to skip', ruleOf('limit: 1, window: 1s, skip: [{ user: x }, { route: { not: /a }, ip: y }]')],
    ['a penalty', ruleOf('limit: 1, window: 1d, penalty: { blocks: [1m, 3600000], forgetAfter: 1d }')],
    [
      'JSON',
      '{"rules":[{"name":"a","limit":1,"window":"1s"}],"forwardAuth":{"headers":{"user":"X-User"}},"denyStatus":401}',
    ],
  ]
  test.each(good)('%s', (_, text) => {
    expect(parseConfig(text)).toHaveProperty('config')
    expect([isValid(parse(text)), isValid.errors]).toEqual([true, null])
  })
})

describe('refuses what the service refuses, as far as a schema can', () => {
  const broken: [string, string, string][] = [
    ['no rules', 'denyStatus: 403', ''],
    ['an empty list', 'rules: []', '/rules'],
    ['a field that does not exist', 'rules: [{ name: a, limit: 1, window: 1s }]\nrule: 1', ''],
    ['a misspelt field of a rule', ruleOf('limit: 1, windw: 1s'), '/rules/0'],
    ['no limit', ruleOf('window: 1s'), '/rules/0'],
    ['a limit below 0', ruleOf('limit: -1, window: 1s'), '/rules/0/limit'],
    ['a limit that is no whole number', ruleOf('limit: 1.5, window: 1s'), '/rules/0/limit'],
    ['a limit in quotes', ruleOf('limit: "1", window: 1s'), '/rules/0/limit'],
    ['a name that cannot be one', 'rules: [{ name: -a, limit: 1, window: 1s }]', '/rules/0/name'],
    ['an unknown unit', ruleOf('limit: 1, window: 1w'), '/rules/0/window'],
    ['a window of 0', ruleOf('limit: 1, window: 0'), '/rules/0/window'],
    ['an algorithm that does not exist', ruleOf('limit: 1, window: 1s, algorithm: leaky'), '/rules/0/algorithm'],
    ['a key as text', ruleOf('limit: 1, window: 1s, key: user'), '/rules/0/key'],
    ['a key with one dimension twice', ruleOf('limit: 1, window: 1s, key: [a, a]'), '/rules/0/key'],
    ['a match on a number', ruleOf('limit: 1, window: 1s, match: { port: 80 }'), '/rules/0/match/port'],
    ['a condition of no kind', ruleOf('limit: 1, window: 1s, match: { a: { regex: x } }'), '/rules/0/match/a'],
    [
      'a condition of two kinds',
      ruleOf('limit: 1, window: 1s, match: { a: { prefix: x, glob: x } }'),
      '/rules/0/match/a',
    ],
    ['not of not', ruleOf('limit: 1, window: 1s, match: { a: { not: { not: x } } }'), '/rules/0/match/a/not'],
    ['an empty list of values', ruleOf('limit: 1, window: 1s, match: { a: [] }'), '/rules/0/match/a'],
    ['a limit without a default', ruleOf('limit: { dimension: a }, window: 1s'), '/rules/0/limit'],
    ['an override for everybody', ruleOf('limit: 1, window: 1s, overrides: [{}]'), '/rules/0/overrides/0'],
    [
      'a limit in quotes, in an override',
      ruleOf('limit: 1, window: 1s, overrides: [{ user: x, limit: "2" }]'),
      '/rules/0/overrides/0/limit',
    ],
    ['a skip of everybody', ruleOf('limit: 1, window: 1s, skip: {}'), '/rules/0/skip'],
    ['a misspelt condition to skip', ruleOf('limit: 1, window: 1s, skip: { a: { regex: x } }'), '/rules/0/skip/a'],
    ['a flag as text', ruleOf('limit: 1, window: 1s, shadow: "on"'), '/rules/0/shadow'],
    ['a cost as a number', ruleOf('limit: 1, window: 1s, cost: 5'), '/rules/0/cost'],
    ['headers as a list', `${ruleOf('limit: 1, window: 1s')}\nforwardAuth: { headers: [x] }`, '/forwardAuth/headers'],
    ['a status that no gateway takes', `${ruleOf('limit: 1, window: 1s')}\ndenyStatus: 200`, '/denyStatus'],
  ]
  test.each(broken)('%s', (_, text, place) => {
    expect(parseConfig(text)).toHaveProperty('problems')
    expect(isValid(parse(text))).toBe(false)
    expect(isValid.errors?.map(({ instancePath }) => instancePath)).toContain(place)
  })
})
