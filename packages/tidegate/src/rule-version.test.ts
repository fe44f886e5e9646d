import { expect, test } from 'vitest'
import { compileRules } from './rule.ts'
import { versionOf } from './rule-version.ts'

const rule = { name: 'r', key: ['user'], limit: 5, window: '1h' }
const version = (change: object) => versionOf(compileRules([{ ...rule, ...change }]))

const byPlan = ({ plan }: Record<string, string>) => (plan === 'gold' ? 9 : 1)

/** Each differs from all others, and from the plain rule. */
const different: object[] = [
  {},
  { overrides: [{ user: 'a', limit: 1 }] },
  { overrides: [{ user: 'a', limit: 2 }] },
  { overrides: [{ user: 'b', limit: 1 }] },
  { overrides: [{ user: 'a', unlimited: true }] },
  {
    overrides: [
      { user: 'a', limit: 1 },
      { user: 'b', limit: 1 },
    ],
  },
  {
    overrides: [
      { user: 'b', limit: 1 },
      { user: 'a', limit: 1 },
    ],
  },
  { skip: { user: 'a' } },
  { skip: { user: 'b' } },
  { skip: [{ user: 'a' }, { user: 'b' }] },
  { unlimited: true },
  { shadow: true },
  { required: true },
  { cost: 'tokens' },
  { cost: 'units' },
  { limit: { dimension: 'plan', default: 5 } },
  { limit: { dimension: 'plan', default: 6 } },
  { limit: { dimension: 'tier', default: 5 } },
  { limit: byPlan },
]

test('whatever changes a decision changes the version', () => {
  expect(new Set(different.map(version)).size).toBe(different.length)
})

test.each<[object, object]>([
  [{}, { overrides: [], unlimited: false, shadow: false, required: false, skip: undefined }],
  [{ skip: { user: 'a' } }, { skip: [{ user: ['a', 'a'] }] }],
  [{ skip: [{ user: 'a' }, { route: '/' }] }, { skip: [{ route: '/' }, { user: 'a' }] }],
  [{ match: { a: 'x', b: 'y' } }, { match: { b: 'y', a: 'x' } }],
  [{ overrides: [{ a: 'x', b: ['y', 'z'], limit: 1 }] }, { overrides: [{ limit: 1, b: ['z', 'y'], a: 'x' }] }],
])('spelling does not: %j', (one, other) => expect(version(one)).toBe(version(other)))
