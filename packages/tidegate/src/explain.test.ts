import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Descriptor } from './descriptor.ts'
import { explain } from './explain.ts'
import { createGate } from './gate.ts'
import type { RuleOptions } from './rule.ts'

const limit = { limit: 9, window: '1m' }
const rules: RuleOptions[] = [
  { name: 'all', ...limit },
  { name: 'order', match: { route: '/order', ip: { not: { cidr: '10.0.0.0/8' } } }, key: ['user', 'tenant'], ...limit },
  { name: 'user', key: ['user'], ...limit },
]
const gate = createGate({ rules })

describe('explain', () => {
  test('names the values that a rule counts by, in the order of its key', () => {
    const explained = explain(gate.rules, { tenant: 't', user: 'u', route: '/order' })
    expect(explained).toEqual([
      { rule: 'all', applies: true, key: {} },
      { rule: 'order', applies: true, key: { user: 'u', tenant: 't' } },
      { rule: 'user', applies: true, key: { user: 'u' } },
    ])
    expect(Object.keys((explained[1] as { key: object }).key)).toEqual(['user', 'tenant'])
  })

  test('names the first condition that the request does not meet, what it wants and what it found', () => {
    const reasonOf = (descriptor: Descriptor) => JSON.parse(JSON.stringify(explain(gate.rules, descriptor)[1]))
    expect(reasonOf({ route: '/', ip: '10.0.0.1' })).toEqual({
      ...{ rule: 'order', applies: false, because: 'condition', dimension: 'route', found: '/' },
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
      ...{ wanted: null, found: null },
    })
  })

  test('refuses what is no descriptor', () => {
    expect(() => explain(gate.rules, [] as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_DESCRIPTOR' }))
    expect(() => explain([], { user: '' })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_KEY' }))
  })

  test('says of every rule what a gate does', () => {
    const value = fc.constantFrom('/order', 'u', '10.0.0.1')
    const descriptor = fc.dictionary(fc.constantFrom('route', 'user', 'tenant', 'ip', 'toString'), value)
    const agrees = fc.property(descriptor, (request) => {
      const applying = explain(gate.rules, request).filter(({ applies }) => applies)
      expect(applying.map(({ rule }) => rule)).toEqual(gate.peekSync(request).rules.map(({ rule }) => rule))
    })
    fc.assert(agrees)
  })
})
