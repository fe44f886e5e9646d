import { describe, expect, test } from 'vitest'
import { createGate, type GateOptions } from '../gate.ts'
import type { RuleOptions } from '../rule.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'

const hourly: RuleOptions = { name: 'hourly', key: ['user'], limit: 2, window: '1h' }

const gateOf = (...rules: RuleOptions[]) => {
  const options: GateOptions = { rules, store: memoryStore({ clock: () => 5000 }) }
  return createGate(options)
}
const take = (gate: ReturnType<typeof gateOf>, descriptor: Record<string, string>, times: number) =>
  Array.from({ length: times }, () => gate.limitSync(descriptor)).filter(({ allowed }) => allowed).length

describe('skip', () => {
  test('by one set of conditions, all of which a request must meet', () => {
    const gate = gateOf({ ...hourly, skip: { user: { prefix: 'bot-' }, route: '/health' } })
    expect(take(gate, { user: 'bot-1', route: '/health' }, 5)).toBe(5)
    expect(gate.limitSync({ user: 'bot-1', route: '/health' })).toMatchObject({ reason: 'no_rule', rules: [] })
    expect(take(gate, { user: 'bot-1', route: '/' }, 5)).toBe(2)
  })

  test('by any of several', () => {
    const gate = gateOf({ ...hourly, skip: [{ user: 'root' }, { ip: { cidr: '10.0.0.0/8' } }] })
    expect(take(gate, { user: 'root' }, 5)).toBe(5)
    expect(take(gate, { user: 'u', ip: '10.1.2.3' }, 5)).toBe(5)
    expect(take(gate, { user: 'u', ip: '11.1.2.3' }, 5)).toBe(2)
  })

  test('such a request is not counted as one that lacks a dimension', () => {
    const gate = gateOf({ ...hourly, required: true, skip: { route: '/health' } })
    expect(gate.limitSync({ route: '/health' })).toMatchObject({ allowed: true, reason: 'no_rule' })
    expect(gate.skipped().size).toBe(0)
  })

  test.each<[unknown, string, string]>([
    ['root', 'skip', 'an object that gives dimensions the values to match'],
    [[], 'skip', 'at least one set of conditions'],
    [{}, 'skip', 'at least one dimension and its condition'],
    [[{ user: 'a' }, {}], 'skip[1]', 'at least one dimension and its condition'],
    [new Array(1), 'skip[0]', 'an object that gives dimensions the values to match'],
  ])('%j is refused', (skip, field, expected) => {
    expect(() => gateOf({ ...hourly, skip } as RuleOptions)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: `rules[0].${field}`, expected }),
    )
  })
})

describe('required', () => {
  const gate = gateOf({ ...hourly, required: true }, { name: 'all', limit: 5, window: '1h' })

  test('refuses a request that lacks a dimension, and charges nothing', () => {
    for (const decision of [gate.limitSync({}), gate.peekSync({})]) {
      const figures = { rule: 'hourly', allowed: false, limit: 2, used: 0, remaining: 0, reason: 'missing_dimension' }
      expect(decision).toMatchObject({ ...figures, retryAfterMs: null, at: 5000, rules: [figures] })
      expect(decision.rules).toHaveLength(1)
    }
    expect(gate.limitSync({ user: 'u' })).toMatchObject({ allowed: true, rules: [{ used: 1 }, { used: 1 }] })
    expect(gate.skipped().size).toBe(0)
  })

  test('refuses the wait for it at once', async () => {
    expect(await gate.acquire({})).toMatchObject({ allowed: false, reason: 'missing_dimension' })
  })

  test('of a rule in shadow is told, and refuses nothing', () => {
    const watched = gateOf({ ...hourly, required: true, shadow: true }, { name: 'all', limit: 5, window: '1h' })
    expect(watched.limitSync({})).toMatchObject({
      ...{ allowed: true, rule: 'all', used: 1 },
      rules: [
        { rule: 'hourly', reason: 'missing_dimension', shadow: true },
        { rule: 'all', used: 1 },
      ],
    })
  })
})

describe('unlimited', () => {
  test('a rule counts nothing, and decides nothing where another one counts', () => {
    const gate = gateOf({ ...hourly, unlimited: true }, { name: 'all', limit: 5, window: '1h' })
    expect(take(gate, { user: 'u' }, 9)).toBe(5)
    expect(gate.peekSync({ user: 'u' }, { cost: 0 })).toMatchObject({
      ...{ rule: 'all', limit: 5, used: 5 },
      rules: [
        { rule: 'hourly', unlimited: true, used: 0 },
        { rule: 'all', used: 5 },
      ],
    })
  })

  test('it needs neither a limit nor a window, but where it has them an override can limit', () => {
    expect(gateOf({ name: 'open', unlimited: true }).limitSync({})).toMatchObject({ rule: 'open', reason: 'ok' })
    const gate = gateOf({ ...hourly, unlimited: true, overrides: [{ user: 'bad', limit: 1 }] })
    expect([take(gate, { user: 'u' }, 9), take(gate, { user: 'bad' }, 9)]).toEqual([9, 1])
    expect(() => gateOf({ name: 'open', unlimited: true, window: '1h' })).toThrow('rules[0].limit: expected a whole')
  })

  test('there is nothing to give back of it', async () => {
    const gate = gateOf({ ...hourly, overrides: [{ plan: 'gold', unlimited: true }] })
    gate.limitSync({ user: 'u' })
    const decision = gate.limitSync({ user: 'u', plan: 'gold' })
    expect(await gate.refund({ user: 'u' }, { decision })).toEqual(new Map([['hourly', 0]]))
    expect(await gate.refund({ user: 'u', plan: 'gold' }, { decision })).toEqual(new Map())
    expect(gate.peekSync({ user: 'u' }, { cost: 0 }).used).toBe(1)
  })
})

describe('cost from a dimension', () => {
  const rule: RuleOptions = { ...hourly, limit: 100, cost: 'tokens' }
  const calls: RuleOptions = { name: 'calls', limit: 10, window: '1h' }

  test('each rule of a request has its own cost', async () => {
    const gate = gateOf(rule, calls)
    const decision = gate.limitSync({ user: 'u', tokens: '60' }, { cost: 2 })
    expect(decision.rules).toMatchObject([{ used: 60 }, { used: 2 }])
    expect(gate.limitSync({ user: 'u', tokens: '41' })).toMatchObject({ allowed: false, rule: 'hourly', used: 60 })
    expect(gate.limitSync({ user: 'u', tokens: '0' }).rules).toMatchObject([{ used: 60 }, { used: 3 }])
    expect(gate.limitSync({ user: 'u' }, { cost: 7 }).rules).toMatchObject([{ used: 61 }, { used: 10 }])
    const refunded = await gate.refund({ user: 'u', tokens: '60' }, { decision, cost: 2 })
    expect(refunded).toEqual(new Map(Object.entries({ hourly: 60, calls: 2 })))
  })

  test('where it is required a request without it is refused', () => {
    const gate = gateOf({ ...rule, required: true })
    expect(gate.limitSync({ user: 'u' })).toMatchObject({ allowed: false, reason: 'missing_dimension' })
    expect(gate.limitSync({ user: 'u', tokens: '5' })).toMatchObject({ allowed: true, used: 5 })
  })

  test('where it is required a key can be blocked and reset without it', async () => {
    const gate = gateOf({ ...rule, required: true })
    gate.limitSync({ user: 'u', tokens: '5' })
    await gate.block({ user: 'u' }, 'forever')
    expect(gate.peekSync({ user: 'u', tokens: '1' })).toMatchObject({ reason: 'blocked', used: 5 })
    expect(await gate.refund({ user: 'u' }, { cost: 3 })).toEqual(new Map([['hourly', 3]]))
    await gate.reset({ user: 'u' })
    expect(gate.peekSync({ user: 'u', tokens: '0' })).toMatchObject({ reason: 'ok', used: 0 })
  })

  test.each(['', '-1', '1.5', '1e3', '4294967296', '007', '1 ', 'many', '99999999999'].filter((value) => value !== ''))(
    'the cost %j is refused by name and value',
    (tokens) => {
      expect(() => gateOf(rule).limitSync({ user: 'u', tokens })).toThrow(
        expect.objectContaining({
          code: 'ERR_INVALID_COST',
          field: 'descriptor.tokens',
          message: `descriptor.tokens: expected a decimal whole number from 0 to 4,294,967,295, because it is the cost, received ${JSON.stringify(tokens)}`,
        }),
      )
    },
  )
})
