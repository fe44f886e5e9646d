import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Descriptor } from '../descriptor.ts'
import { createGate } from '../gate.ts'
import type { RuleOptions } from '../rule.ts'
import { explain } from './explain.ts'

const limit = { limit: 9, window: '1m' }
const rules: RuleOptions[] = [
  { name: 'all', ...limit },
  { name: 'order', match: { route: '/order', ip: { not: { cidr: '10.0.0.0/8' } } }, key: ['user', 'tenant'], ...limit },
  { name: 'user', key: ['user'], ...limit },
]
const gate = createGate({ rules })
const PLAIN = { limit: 9, override: null, cost: null, shadow: false }

const exceptional: RuleOptions[] = [
  {
    name: 'plan',
    key: ['user'],
    window: '1m',
    limit: { dimension: 'plan_limit', default: 5 },
    overrides: [
      { user: 'root', unlimited: true },
      { user: { prefix: 'vip-' }, limit: 100 },
    ],
    skip: [{ route: '/health' }, { ip: { cidr: '10.0.0.0/8' }, route: '/metrics' }],
  },
  { name: 'tokens', key: ['user'], cost: 'tokens', required: true, ...limit },
  { name: 'tried', key: ['ip'], required: true, shadow: true, cost: 'tokens', ...limit },
  { name: 'free', match: { route: '/free' }, key: ['user'], unlimited: true },
]
const exceptions = createGate({ rules: exceptional })

describe('explain', () => {
  test('names the values that a rule counts by, in the order of its key', () => {
    const explained = explain(gate.rules, { tenant: 't', user: 'u', route: '/order' })
    expect(explained).toEqual([
      { rule: 'all', applies: true, key: {}, ...PLAIN },
      { rule: 'order', applies: true, key: { user: 'u', tenant: 't' }, ...PLAIN },
      { rule: 'user', applies: true, key: { user: 'u' }, ...PLAIN },
    ])
    expect(Object.keys((explained[1] as { key: object }).key)).toEqual(['user', 'tenant'])
  })

  test('names the first condition that the request does not meet, what it wants and what it found', () => {
    const reasonOf = (descriptor: Descriptor) => JSON.parse(JSON.stringify(explain(gate.rules, descriptor)[1]))
    expect(reasonOf({ route: '/', ip: '10.0.0.1' })).toEqual({
      ...{ rule: 'order', applies: false, because: 'condition', dimension: 'route', found: '/', refuses: false },
      wanted: { kind: 'exact', values: ['/order'] },
    })
    expect(reasonOf({ ip: '10.0.0.1' })).toMatchObject({ dimension: 'route', found: null })
    expect(reasonOf({ route: '/order', ip: '10.0.0.1' })).toMatchObject({
      ...{ dimension: 'ip', found: '10.0.0.1' },
      wanted: { kind: 'not', condition: { kind: 'cidr', values: ['10.0.0.0/8'] } },
    })
  })

  test('names the first dimension of the key that is missing', () => {
    expect(explain(gate.rules, { route: '/order', user: 'u' })[1]).toEqual({
      ...{ rule: 'order', applies: false, because: 'missing_dimension', dimension: 'tenant' },
      ...{ wanted: null, found: null, refuses: false },
    })
  })

  test('says which limit and which cost a request has, and who is skipped', () => {
    const explained = (descriptor: Descriptor) => explain(exceptions.rules, descriptor)
    expect(explained({ user: 'vip-1', plan_limit: '7' })[0]).toMatchObject({ limit: 100, override: 1 })
    expect(explained({ user: 'u', plan_limit: '7' })[0]).toMatchObject({ limit: 7, override: null })
    expect(explained({ user: 'u' })[0]).toMatchObject({ limit: 5 })
    expect(explained({ user: 'root' })[0]).toMatchObject({ applies: true, limit: null, override: 0 })
    expect(explained({ user: 'u', ip: '10.1.1.1', route: '/metrics' })[0]).toMatchObject({
      ...{
        applies: false,
        because: 'skip',
        skipped: [
          ['ip', { kind: 'cidr' }],
          ['route', { values: ['/metrics'] }],
        ],
      },
    })
    expect(explained({ user: 'u', tokens: '812' })[1]).toMatchObject({ applies: true, cost: 812 })
    const lacks = { applies: false, because: 'missing_dimension' }
    expect(explained({ user: 'u', ip: '::1' }).slice(1, 3)).toMatchObject([
      { ...lacks, dimension: 'tokens', refuses: true },
      { ...lacks, dimension: 'tokens', refuses: false },
    ])
    expect(explained({ route: '/free' })[3]).toMatchObject({ applies: true, key: {}, limit: null })
    expect(explained({ ip: '::1', tokens: '1' })[2]).toMatchObject({ applies: true, shadow: true, cost: 1 })
  })

  test('refuses what is no descriptor', () => {
    expect(() => explain(gate.rules, [] as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_DESCRIPTOR' }))
    expect(() => explain([], { user: '' })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_KEY' }))
  })

  test('says of every rule what a gate does, its limit and its cost too', () => {
    const named = fc.constantFrom('/order', '/health', '/metrics', '/free', 'u', 'vip-1', 'root', '10.0.0.1')
    const count = fc.constantFrom('3', '12')
    const descriptor = fc.record(
      { route: named, user: named, tenant: named, ip: named, toString: named, tokens: count, plan_limit: count },
      { requiredKeys: [] },
    )
    const agrees = fc.property(descriptor, fc.constantFrom(gate, exceptions), (request, one) => {
      const { rules: figures } = one.peekSync(request as Descriptor)
      const refused = figures.filter(({ reason, shadow }) => reason === 'missing_dimension' && shadow !== true)
      const explained = explain(one.rules, request as Descriptor)
      const refusing = explained.filter((rule) => !rule.applies && rule.because !== 'skip' && rule.refuses)
      expect(refusing.map(({ rule }) => rule)).toEqual(refused.map(({ rule }) => rule))
      // A request that is refused for what it lacks is not asked about by any rule that counts.
      if (refused.length > 0) return
      const decided = figures.filter(({ reason }) => reason !== 'missing_dimension')
      const limits = decided.map(({ rule, limit: own, unlimited }) => [rule, unlimited === true ? null : own])
      const applying = explained.flatMap((rule) => (rule.applies ? [[rule.rule, rule.limit]] : []))
      expect(applying).toEqual(limits)
    })
    void fc.assert(agrees)
  })
})
