import { describe, expect, test } from 'vitest'
import { createGate } from '../gate.ts'
import type { RuleOptions } from '../rule.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { RuleChanges } from './rule-changes.ts'

const user: RuleOptions = { name: 'user', key: ['user'], limit: 2, window: 1000 }
const site: RuleOptions = { name: 'site', limit: 100, window: '1m' }
const open = (...rules: RuleOptions[]) => createGate({ rules, store: memoryStore({ clock: () => 5000 }) })

describe('what an update says that it has changed', () => {
  const cases: [string, RuleOptions[], RuleOptions[], Partial<RuleChanges>][] = [
    ['nothing', [user, site], [user, site], {}],
    ['nothing but spelling', [user, site], [{ ...user, window: '1s' }, site], {}],
    ['the order alone', [user, site], [site, user], {}],
    ['another rule', [user], [user, site], { added: ['site'] }],
    ['one less', [user, site], [site], { removed: ['user'] }],
    ['another name', [user], [{ ...user, name: 'u' }], { added: ['u'], removed: ['user'] }],
    [
      'a limit',
      [user, site],
      [{ ...user, limit: 3 }, site],
      { changed: [{ name: 'user', fields: ['limit'], keepsCounts: true }] },
    ],
    [
      'a match and a description',
      [user],
      [{ ...user, match: { route: '/a' }, description: 'd' }],
      { changed: [{ name: 'user', fields: ['description', 'match'], keepsCounts: true }] },
    ],
    [
      'a window and a key',
      [user],
      [{ ...user, window: 2000, key: [] }],
      { changed: [{ name: 'user', fields: ['key', 'window'], keepsCounts: false }] },
    ],
    [
      'the zone of a calendar',
      [{ name: 'day', limit: 1, algorithm: 'fixed-window', align: 'day' }],
      [{ name: 'day', limit: 1, algorithm: 'fixed-window', align: 'day', timeZone: 'Europe/Berlin' }],
      { changed: [{ name: 'day', fields: ['timeZone'], keepsCounts: false }] },
    ],
  ]
  test.each(cases)('%s', (_, before, after, expected) => {
    const gate = open(...before)
    const changes = gate.update(after)
    expect(changes).toEqual({ added: [], removed: [], changed: [], ...expected, version: gate.version })
    expect(gate.rules.map(({ name }) => name)).toEqual(after.map(({ name }) => name))
    expect(gate.version).toBe(open(...after).version)
  })

  test('also where the caller wrote into the rules that it had given', () => {
    const rules = [{ ...user, match: { route: ['/a'] } }]
    const gate = open(...rules)
    rules[0]?.match.route.push('/b')
    expect(gate.limitSync({ route: '/b', user: 'u' }).reason).toBe('no_rule')
    expect(gate.update(rules).changed).toEqual([{ name: 'user', fields: ['match'], keepsCounts: true }])
    expect(gate.limitSync({ route: '/b', user: 'u' }).rule).toBe('user')
  })
})

describe('an update that is refused changes nothing', () => {
  const wrong: [string, unknown, string][] = [
    ['no list', undefined, 'ERR_INVALID_OPTION'],
    ['a limit below 0', [{ ...user, limit: -1 }], 'ERR_INVALID_OPTION'],
    ['a field that does not exist', [site, { ...user, limt: 1 }], 'ERR_UNKNOWN_OPTION'],
    ['equal names', [user, user], 'ERR_DUPLICATE_RULE'],
    ['a slot that no rule has in its key', [site], 'ERR_INVALID_OPTION'],
    ['rules that a cluster cannot decide in one step', [user, site], 'ERR_INVALID_OPTION'],
  ]
  test.each(wrong)('%s', (_, rules, code) => {
    const store = Object.assign(memoryStore(), { cluster: true })
    const gate = createGate({ rules: [user], store, slot: 'user', atomicity: 'strict' })
    const told: RuleChanges[] = []
    gate.onUpdate((changes) => told.push(changes))
    const before = [gate.version, gate.rules]
    gate.limitSync({ user: 'u' })
    expect(() => gate.update(rules as RuleOptions[])).toThrow(expect.objectContaining({ name: 'TidegateError', code }))
    expect([gate.version, gate.rules]).toEqual(before)
    expect(gate.limitSync({ user: 'u' })).toMatchObject({ rule: 'user', used: 2, version: gate.version })
    expect(told).toEqual([])
  })

  test('after close', async () => {
    const gate = open(user)
    await gate.close()
    expect(() => gate.update([user])).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
  })
})

test('no rules at all are a set like others: every request passes', () => {
  const gate = open(user)
  expect(gate.update([])).toMatchObject({ removed: ['user'] })
  expect(gate.limitSync({ user: 'u' })).toMatchObject({ reason: 'no_rule', version: gate.version })
})

test('counts stay with a changed limit, and with a rule that comes back; another window begins anew', () => {
  const gate = open(user)
  const used = () => gate.peekSync({ user: 'u' }, { cost: 0 }).used
  gate.limitSync({ user: 'u' }, { cost: 2 })
  gate.update([{ ...user, limit: 1 }])
  expect(gate.limitSync({ user: 'u' })).toMatchObject({ allowed: false, limit: 1, used: 2, remaining: 0 })
  gate.update([{ ...user, limit: 3 }])
  expect(gate.limitSync({ user: 'u' })).toMatchObject({ allowed: true, used: 3 })
  gate.update([{ ...user, window: 1001 }])
  expect(used()).toBe(0)
  gate.update([])
  gate.update([user])
  expect(used()).toBe(3)
})

test('a request that has begun is decided by the rules it began with', async () => {
  const near = memoryStore({ clock: () => 5000 })
  const doors: (() => void)[] = []
  const {
    decideSync: _,
    decideOneSync: __,
    ...far
  } = Object.assign(Object.create(near), {
    ...Object.fromEntries(
      (['reserve', 'settle', 'refund', 'renew', 'entries', 'block', 'unblock', 'reset', 'ping', 'close'] as const).map(
        (name) => [name, near[name].bind(near)],
      ),
    ),
    clock: near.clock,
    decide: async (...asked: Parameters<typeof near.decide>) => {
      await new Promise<void>((resolve) => doors.push(resolve))
      return near.decide(...asked)
    },
  })
  const gate = createGate({ rules: [user], store: far })
  const { version } = gate
  const begun = gate.limit({ user: 'u' }, { cost: 2 })
  gate.update([{ ...user, limit: 1 }])
  const next = gate.limit({ user: 'u' }, { cost: 2 })
  for (const open of doors) open()
  expect(await begun).toMatchObject({ allowed: true, limit: 2, used: 2, version })
  expect(await next).toMatchObject({ allowed: false, limit: 1, used: 2, version: gate.version })
  expect(gate.version).not.toBe(version)
})

test('skipped keeps its counts of rules that remain', () => {
  const gate = open(user, { ...user, name: 'other' })
  gate.limitSync({})
  gate.update([{ ...user, limit: 9 }])
  expect([...gate.skipped()]).toEqual([['user', 1]])
})

test('listeners are told what has changed, once it has, until they end it; one that throws is no failed update', async () => {
  const gate = open(user)
  const told: unknown[] = []
  const listener = (changes: RuleChanges) => told.push([changes, gate.version])
  const end = gate.onUpdate(listener)
  gate.onUpdate(listener)
  const changes = gate.update([site])
  await Promise.resolve()
  expect(told).toEqual(Array(2).fill([changes, changes.version]))
  gate.update([site])
  end()
  gate.update([user])
  await Promise.resolve()
  expect(told).toHaveLength(3)
})
