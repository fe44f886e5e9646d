import { describe, expect, test } from 'vitest'
import { createGate, type Gate } from './gate.ts'
import { createLimiter } from './limiter.ts'
import type { RuleOptions } from './rule.ts'
import { memoryStore } from './stores/memory/memory-store.ts'

const limiter = createLimiter({ limit: 10, window: '1h' })

describe('what cannot be reserved or settled is refused by name, and charges nothing', () => {
  const reservations: [options: unknown, code: string, field: string][] = [
    [undefined, 'ERR_INVALID_OPTION', 'options'],
    [{}, 'ERR_INVALID_COST', 'cost'],
    [{ cost: 0 }, 'ERR_INVALID_COST', 'cost'],
    [{ cost: -0 }, 'ERR_INVALID_COST', 'cost'],
    [{ cost: 1.5 }, 'ERR_INVALID_COST', 'cost'],
    [{ cost: 2 ** 32 }, 'ERR_INVALID_COST', 'cost'],
    [{ cost: 1, id: '' }, 'ERR_INVALID_OPTION', 'id'],
    [{ cost: 1, id: 'a\nb' }, 'ERR_INVALID_OPTION', 'id'],
    [{ cost: 1, expiresIn: 0 }, 'ERR_INVALID_OPTION', 'expiresIn'],
    [{ cost: 1, expiresIn: '367d' }, 'ERR_INVALID_OPTION', 'expiresIn'],
    [{ cost: 1, expires: 5 }, 'ERR_UNKNOWN_OPTION', 'expires'],
  ]
  test.each(reservations)('reserve %j', async (options, code, field) => {
    await expect(limiter.reserve('k', options as { cost: number })).rejects.toMatchObject({ code, field })
    expect(limiter.peekSync('k', { cost: 0 })).toMatchObject({ used: 0 })
  })

  const settlements: [id: unknown, options: unknown, code: string, field: string][] = [
    ['a', undefined, 'ERR_INVALID_OPTION', 'options'],
    ['a', {}, 'ERR_INVALID_COST', 'cost'],
    ['a', { cost: -1 }, 'ERR_INVALID_COST', 'cost'],
    ['a', { actual: 1 }, 'ERR_UNKNOWN_OPTION', 'actual'],
    [undefined, { cost: 1 }, 'ERR_INVALID_OPTION', 'id'],
  ]
  test.each(settlements)('settle %j %j', async (id, options, code, field) => {
    const given = [id as string, options as { cost: number }] as const
    await expect(limiter.settle('k', ...given)).rejects.toMatchObject({ code, field })
    const gate = createGate({ rules: [{ name: 'r', limit: 1, window: 1 }] })
    await expect(gate.settle({}, ...given)).rejects.toMatchObject({ code, field })
  })
})

test('by default a reservation can be settled for ten minutes', async () => {
  let now = 0
  const other = createLimiter({ name: 'r', limit: 100, window: '1d', store: memoryStore({ clock: () => now }) })
  await other.reserve('k', { cost: 5, id: 'a' })
  await other.reserve('k', { cost: 5, id: 'b' })
  now = 600_000 - 1
  expect(await other.settle('k', 'a', { cost: 1 })).toEqual({ settled: true, charged: 0, refunded: 4 })
  now = 600_000
  expect(await other.settle('k', 'b', { cost: 1 })).toEqual({ settled: false, charged: 0, refunded: 0 })
})

test('a rule that cannot be charged any more fails once the others have been settled, and can be settled again', async () => {
  const most = 2 ** 32 - 1
  const gate = createGate({
    rules: [
      { name: 'full', limit: most, window: '1h' },
      { name: 'user', key: ['user'], limit: 10, window: '1h' },
    ],
  })
  await gate.reserve({ user: 'u' }, { cost: 5, id: 'a' })
  await gate.limit({ user: 'v' }, { cost: 1 })
  await gate.reserve({}, { cost: most - 6, id: 'b' })
  const failure = { code: 'ERR_INVALID_COST', field: 'cost', message: expect.stringContaining('rule full') }
  await expect(gate.settle({ user: 'u' }, 'a', { cost: 8 })).rejects.toMatchObject(failure)
  expect(gate.peekSync({ user: 'u' }, { cost: 0 })).toMatchObject({ rules: [{ used: most }, { used: 8 }] })
  expect(await gate.settle({ user: 'u' }, 'a', { cost: 5 })).toMatchObject({
    settled: true,
    rules: [{ settled: true }, { settled: false }],
  })
})

test('what settling gives back lets whoever waits for it ask again at once', async () => {
  const waited = createLimiter({ limit: 10, window: '1h' })
  const { id } = await waited.reserve('k', { cost: 10 })
  const waiting = waited.acquire('k', { cost: 4, timeoutMs: 7_200_000 })
  await waited.settle('k', id as string, { cost: 6 })
  expect(await waiting).toMatchObject({ allowed: true, used: 10 })
})

describe('of a rule with particulars', () => {
  const tokens = { name: 'tokens', key: ['user'], limit: 1000, window: '1h', cost: 'tokens' }
  const calls = { name: 'calls', key: ['user'], limit: 10, window: '1h' }
  const used = (gate: Pick<Gate, 'peekSync'>) =>
    gate.peekSync({ user: 'u', tokens: '0' }, { cost: 0 }).rules.map((figures) => figures.used)

  test('the cost from a dimension is reserved, and settled at the value that is there then, else at the cost', async () => {
    const gate = createGate({ rules: [calls, tokens] })
    for (const id of ['a', 'b', 'c']) await gate.reserve({ user: 'u', tokens: '300' }, { cost: 1, id })
    expect(used(gate)).toEqual([3, 900])
    expect(await gate.settle({ user: 'u', tokens: '120' }, 'a', { cost: 1 })).toMatchObject({
      rules: [{ refunded: 0 }, { refunded: 180 }],
    })
    expect(used(gate)).toEqual([3, 720])
    await gate.settle({ user: 'u' }, 'b', { cost: 2 })
    expect(used(gate)).toEqual([4, 422])
    // What has come to nothing costs nothing, whatever the descriptor says.
    await gate.cancel({ user: 'u', tokens: '300' }, 'c')
    expect(used(gate)).toEqual([3, 122])
  })

  test('a cost of 0 from a dimension cannot be reserved', async () => {
    const gate = createGate({ rules: [calls, tokens] })
    const refused = { code: 'ERR_INVALID_COST', field: 'descriptor.tokens' }
    await expect(gate.reserve({ user: 'u', tokens: '0' }, { cost: 1 })).rejects.toMatchObject(refused)
    expect(used(gate)).toEqual([0, 0])
  })

  test('one in shadow that would refuse reserves nothing, and the others do', async () => {
    const gate = createGate({ rules: [{ ...calls, name: 'tried', limit: 2, shadow: true }, calls] })
    expect(await gate.reserve({ user: 'u' }, { cost: 2, id: 'a' })).toMatchObject({ allowed: true })
    expect(await gate.reserve({ user: 'u' }, { cost: 3, id: 'b' })).toMatchObject({
      allowed: true,
      rules: [{ rule: 'tried', shadow: true, allowed: false }, { used: 5 }],
    })
    expect(used(gate)).toEqual([2, 5])
    expect(await gate.settle({ user: 'u' }, 'b', { cost: 5 })).toMatchObject({
      rules: [{ settled: false }, { settled: true, charged: 2 }],
    })
    expect(used(gate)).toEqual([2, 7])
  })

  test('an unlimited one lets it pass, and a required dimension refuses it', async () => {
    const gate = createGate({
      rules: [
        { ...calls, overrides: [{ user: 'root', unlimited: true }] },
        { ...tokens, match: { route: '/chat' }, required: true },
      ],
    })
    expect(await gate.reserve({ user: 'root' }, { cost: 50, id: 'a' })).toMatchObject({ allowed: true, id: 'a' })
    expect(await gate.settle({ user: 'root' }, 'a', { cost: 50 })).toMatchObject({ settled: false })
    expect(await gate.reserve({ user: 'u', route: '/chat' }, { cost: 1 })).toMatchObject({
      ...{ allowed: false, reason: 'missing_dimension', id: null },
    })
    expect(used(gate)).toEqual([0])
  })

  test('without the dimension that gives the cost it is reserved and settled at the one that is named', async () => {
    const gate = createGate({ rules: [calls, tokens] })
    await gate.reserve({ user: 'u' }, { cost: 3, id: 'a' })
    expect(used(gate)).toEqual([3, 3])
    await gate.settle({ user: 'u' }, 'a', { cost: 5 })
    expect(used(gate)).toEqual([5, 5])
  })

  // The kind of fault: what was counted by a rule stays because the rule passes such requests by now.
  test('can be settled, released and reset once the rule lets such requests pass, or cannot tell their limit', async () => {
    const leases = { name: 'leases', key: ['user'], algorithm: 'concurrency', limit: 5, window: '1h' } as const
    const changes: object[] = [
      { overrides: [{ user: 'u', unlimited: true }] },
      { skip: { user: 'u' } },
      { limit: { dimension: 'plan', default: 5 } },
      { limit: () => Number.NaN },
    ]
    for (const change of changes) {
      const gate = createGate({ rules: [{ ...calls, limit: 5 }, leases] as RuleOptions[] })
      await gate.reserve({ user: 'u' }, { cost: 4, id: 'a' })
      await gate.limit({ user: 'u' }, { id: 'b' })
      gate.update([{ ...calls, limit: 5, ...change } as RuleOptions, { ...leases, ...change } as RuleOptions])
      const descriptor = { user: 'u', plan: 'none' }
      expect(await gate.settle(descriptor, 'a', { cost: 1 })).toMatchObject({
        rules: [{ refunded: 3 }, { refunded: 3 }],
      })
      expect(await gate.release(descriptor, 'b')).toBe(true)
      gate.update([{ ...calls, limit: 5 }, leases] as RuleOptions[])
      expect(used(gate)).toEqual([2, 1])
      gate.update([{ ...calls, limit: 5, ...change } as RuleOptions, { ...leases, ...change } as RuleOptions])
      await gate.reset(descriptor)
      gate.update([{ ...calls, limit: 5 }, leases] as RuleOptions[])
      expect(used(gate)).toEqual([0, 0])
    }
  })
})

test('a lease that is held without a reservation stays without one', async () => {
  const leases = createLimiter({ name: 'l', algorithm: 'concurrency', limit: 2, window: '1h' })
  await leases.limit('k', { id: 'a' })
  expect(await leases.reserve('k', { cost: 1, id: 'a' })).toMatchObject({ allowed: true, used: 1 })
  expect(await leases.cancel('k', 'a')).toMatchObject({ settled: false })
  expect(await leases.release('k', 'a')).toBe(true)
})
