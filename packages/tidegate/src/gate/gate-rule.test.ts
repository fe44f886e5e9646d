import { describe, expect, test } from 'vitest'
import { createGate } from '../gate.ts'
import { compileRule, type RuleOptions } from '../rule.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Check } from '../stores/store.ts'

const rule: RuleOptions = { name: 'r', key: ['user'], limit: { dimension: 'plan_limit', default: 2 }, window: '1h' }

const gateOf = (change: object) => {
  const rules: RuleOptions[] = [{ ...rule, ...change }]
  const store = memoryStore({ clock: () => 5000 })
  const asked: Check[] = []
  const decideSync = store.decideSync.bind(store)
  store.decideSync = (checks, mode) => {
    asked.push(...checks)
    return decideSync(checks, mode)
  }
  return { gate: createGate({ rules, store }), asked }
}

describe('a limit from a dimension', () => {
  test('each request has its own, and the count is the same', () => {
    const { gate, asked } = gateOf({})
    const limits = ['5', '0', '4294967295'].map((plan_limit) => gate.limitSync({ user: 'u', plan_limit }))
    expect(limits.map(({ limit, used, allowed }) => [limit, used, allowed])).toEqual([
      [5, 1, true],
      [0, 1, false],
      [4294967295, 2, true],
    ])
    expect(gate.limitSync({ user: 'u' })).toMatchObject({ allowed: false, limit: 2, used: 2 })
    expect(new Set(asked.map((check) => check.rule.id)).size).toBe(1)
  })

  test('the same limit is the same rule to the store, which batches by it', () => {
    const { gate, asked } = gateOf({})
    for (let i = 0; i < 3; i++) gate.limitSync({ user: `u${i}`, plan_limit: '7' })
    expect(new Set(asked.map((check) => check.rule)).size).toBe(1)
  })

  test('an override comes first', () => {
    const { gate } = gateOf({ overrides: [{ user: 'vip', limit: 50 }] })
    expect(gate.limitSync({ user: 'vip', plan_limit: '5' })).toMatchObject({ limit: 50 })
  })

  test('a bucket fills at the rate that it makes', () => {
    const { gate } = gateOf({ algorithm: 'token-bucket', window: 1000 })
    expect(gate.limitSync({ user: 'u', plan_limit: '10' }, { cost: 10 })).toMatchObject({ resetAfterMs: 1000 })
    expect(gate.limitSync({ user: 'u', plan_limit: '10' })).toMatchObject({ allowed: false, retryAfterMs: 100 })
    expect(gate.limitSync({ user: 'u', plan_limit: '1000' })).toMatchObject({ allowed: true })
  })

  test.each(['-1', '1.5', 'many', '4294967296', '010'])('%j is an error of that request alone', (plan_limit) => {
    const { gate } = gateOf({})
    const message = `descriptor.plan_limit: expected a whole number from 0 to 4,294,967,295, received "${plan_limit}"`
    expect(() => gate.limitSync({ user: 'u', plan_limit })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_LIMIT', field: 'descriptor.plan_limit', message }),
    )
    expect(gate.limitSync({ user: 'u' }).allowed).toBe(true)
  })

  test('a limit that the window cannot hold', () => {
    const { gate } = gateOf({ window: '1d' })
    expect(() => gate.limitSync({ user: 'u', plan_limit: '4000001' })).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_LIMIT',
        expected: 'a limit, a window or a resolution that needs at most 4,000,000 entries for a key',
      }),
    )
  })

  test.each<[unknown, string, string]>([
    [{ dimension: 'a' }, 'limit.default', 'a whole number from 0 to 4,294,967,295'],
    [
      { dimension: '', default: 1 },
      'limit.dimension',
      'a string of 1 to 4096 characters without control characters or braces',
    ],
    [{ dimension: 'a', default: 1, max: 2 }, 'limit.max', 'one of dimension, default'],
  ])('%j is refused', (limit, field, expected) => {
    expect(() => compileRule({ ...rule, limit }, 'rule')).toThrow(
      expect.objectContaining({ field: `rule.${field}`, expected }),
    )
  })
})

describe('a limit from a function', () => {
  test('is asked at each request', () => {
    let most = 1
    const { gate } = gateOf({ limit: ({ plan }: Record<string, string>) => (plan === 'gold' ? 100 : most) })
    const limitOf = (plan: string) => gate.limitSync({ user: 'u', plan }).limit
    expect([limitOf('gold'), limitOf('free')]).toEqual([100, 1])
    most = 7
    expect(limitOf('free')).toBe(7)
  })

  test.each<[string, () => unknown]>([
    ['-1', () => -1],
    ['0.5', () => 0.5],
    ['NaN', () => Number.NaN],
    ['undefined', () => undefined],
    ['"5"', () => '5'],
    ['an object', async () => 5],
  ])('%s is an error of that request', (received, limit) => {
    const { gate } = gateOf({ limit })
    const message = `the limit of rule r: expected a whole number from 0 to 4,294,967,295, received ${received}`
    expect(() => gate.limitSync({ user: 'u' })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_LIMIT', message }))
  })

  test('what it throws is the cause of one', () => {
    const cause = new Error('no plan')
    const { gate } = gateOf({
      limit: () => {
        throw cause
      },
    })
    expect(() => gate.limitSync({ user: 'u' })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_LIMIT', cause }))
  })

  test('a bucket of any capacity can have one', () => {
    const { gate } = gateOf({ algorithm: 'token-bucket', window: '1d', capacity: 100_000, limit: () => 50_000 })
    expect(gate.limitSync({ user: 'u' })).toMatchObject({ allowed: true, limit: 100_000 })
  })

  test('many limits leave nothing behind', () => {
    let limit = 0
    const { gate } = gateOf({ limit: () => limit++ })
    for (let i = 0; i < 1000; i++) expect(gate.peekSync({ user: 'u' }).limit).toBe(i)
  })
})

// The kind of fault: a promise that nobody looks at ends the process.
test('a limit function that returns a promise that fails is the error of that request, and nothing besides', async () => {
  const unhandled: unknown[] = []
  const listen = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', listen)
  const limit = (async () => {
    throw new Error('away')
  }) as unknown as () => number
  const { gate } = gateOf({ limit })
  expect(() => gate.limitSync({ user: 'u' })).toThrow(expect.objectContaining({ code: 'ERR_INVALID_LIMIT' }))
  await new Promise((resolve) => setTimeout(resolve, 20))
  process.off('unhandledRejection', listen)
  expect(unhandled).toEqual([])
})
