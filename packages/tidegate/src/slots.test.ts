import { describe, expect, test } from 'vitest'
import { createGate } from './gate.ts'
import type { RuleOptions } from './rule.ts'
import { memoryStore } from './stores/memory/memory-store.ts'
import type { Store } from './stores/store.ts'

const store: Store = { ...withMethods(), cluster: true }

/** A memory store that says it is a cluster. */
function withMethods(): Store {
  const memory = memoryStore()
  const { clock } = memory
  return {
    clock,
    decide: (checks, mode) => memory.decide(checks, mode),
    refund: (...given) => memory.refund(...given),
    reserve: (...given) => memory.reserve(...given),
    settle: (...given) => memory.settle(...given),
    renew: (...given) => memory.renew(...given),
    entries: (...given) => memory.entries(...given),
    block: (...given) => memory.block(...given),
    unblock: (...given) => memory.unblock(...given),
    reset: (...given) => memory.reset(...given),
    ping: () => memory.ping(),
    close: () => memory.close(),
  }
}

const rule = (name: string, key: string[], match?: Record<string, string>): RuleOptions => {
  return { name, key, limit: 1, window: 1000, ...(match && { match }) }
}

describe("atomicity 'strict' on a cluster", () => {
  const possible: [string, RuleOptions[], string?][] = [
    ['one rule', [rule('a', ['user'])]],
    ['the same dimensions', [rule('a', ['user']), rule('b', ['user'])]],
    ['rules that never match together', [rule('a', ['user'], { route: '/a' }), rule('b', [], { route: '/b' })]],
    ['the slot dimension in both', [rule('a', ['tenant', 'user']), rule('b', ['tenant'])], 'tenant'],
    [
      'a rule that never counts',
      [rule('a', ['user']), { name: 'b', unlimited: true, overrides: [{ user: 'root', unlimited: true }] }],
    ],
    [
      'one that skips what the other matches',
      [rule('a', ['user'], { plan: 'pro', route: '/' }), { ...rule('b', []), skip: { plan: 'pro' } }],
    ],
    ['no dimensions at all', [rule('a', []), rule('b', [])]],
  ]
  test.each(possible)('%s: possible', (_, rules, slot) => {
    expect(createGate({ rules, store, atomicity: 'strict', ...(slot !== undefined && { slot }) })).toBeDefined()
  })

  const impossible: [string, RuleOptions[], string?][] = [
    ['different dimensions', [rule('a', ['user']), rule('b', ['tenant'])]],
    ['the same dimensions in another order', [rule('a', ['user', 'tenant']), rule('b', ['tenant', 'user'])]],
    ['one without dimensions', [rule('a', ['user']), rule('b', [])]],
    ['the slot dimension in one of them', [rule('a', ['tenant', 'user']), rule('b', ['user'])], 'tenant'],
    [
      'an unlimited one with overrides that count',
      [
        rule('a', ['user']),
        { name: 'b', key: ['ip'], limit: 1, window: 1, unlimited: true, overrides: [{ ip: '::1', limit: 2 }] },
      ],
    ],
    [
      'one that skips some of what the other matches',
      [rule('a', ['user'], { route: '/' }), { ...rule('b', []), skip: { plan: 'pro' } }],
    ],
    ['matches that leave room for both', [rule('a', ['user'], { route: '/a' }), rule('b', [], { method: 'GET' })]],
  ]
  test.each(impossible)('%s: refused when it is loaded', (_, rules, slot) => {
    const options = { rules, store, atomicity: 'strict' as const, ...(slot !== undefined && { slot }) }
    expect(() => createGate(options)).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_OPTION',
        field: 'rules[1].key',
        message: expect.stringMatching(/b and a can lie in two/),
      }),
    )
    // A single server decides all of them in one step.
    expect(createGate({ ...options, store: memoryStore() })).toBeDefined()
    expect(createGate({ ...options, atomicity: 'compensated' })).toBeDefined()
  })
})

test.each([
  [{ slot: 'tenant' }, 'slot', 'a dimension that is in the key of a rule'],
  [{ atomicity: 'perhaps' }, 'atomicity', 'one of strict, compensated'],
])('%o is refused', (options, field, expected) => {
  expect(() => createGate({ rules: [rule('a', ['user'])], ...options } as never)).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_OPTION', field, expected }),
  )
})
