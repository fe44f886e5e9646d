import { describe, expect, test } from 'vitest'
import { createGate } from '../gate.ts'
import { rateLimitHeaders } from '../http/headers.ts'
import type { RuleOptions } from '../rule.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'

const enforced: RuleOptions = { name: 'enforced', limit: 3, window: 1000 }
const shadow: RuleOptions = { name: 'shadow', key: ['user'], limit: 1, window: 1000, shadow: true }

const gateOf = (...rules: RuleOptions[]) => {
  const clock = { now: 5000 }
  return { gate: createGate({ rules, store: memoryStore({ clock: () => clock.now }) }), clock }
}

describe('a rule in shadow', () => {
  test('that would refuse stops neither the request nor the charge of others, and is not charged itself', () => {
    const { gate } = gateOf(shadow, enforced)
    expect(gate.limitSync({ user: 'u' })).toMatchObject({ allowed: true, rule: 'enforced', used: 1 })
    expect(gate.limitSync({ user: 'u' })).toMatchObject({
      ...{ allowed: true, rule: 'enforced', used: 2, reason: 'ok', retryAfterMs: 0 },
      rules: [
        { rule: 'shadow', shadow: true, allowed: false, used: 1, reason: 'over_limit', retryAfterMs: 1000 },
        { rule: 'enforced', allowed: true, used: 2 },
      ],
    })
    expect(gate.peekSync({ user: 'u' }, { cost: 0 }).rules).toMatchObject([{ used: 1 }, { used: 2 }])
  })

  test('is charged with the request, and not with one that others refuse', () => {
    const { gate } = gateOf({ ...shadow, limit: 9 }, { ...enforced, limit: 1 })
    gate.limitSync({ user: 'u' })
    expect(gate.limitSync({ user: 'u' })).toMatchObject({
      ...{ allowed: false, rule: 'enforced' },
      rules: [
        { rule: 'shadow', allowed: true, used: 1 },
        { rule: 'enforced', allowed: false },
      ],
    })
  })

  test('never decides: alone it leaves the request as if there were no rule, with its figures', () => {
    const { gate } = gateOf({ ...shadow, limit: 0 })
    const decision = gate.limitSync({ user: 'u' })
    expect(decision).toMatchObject({ allowed: true, rule: null, reason: 'no_rule', limit: 4294967295, at: 5000 })
    expect(decision.rules).toMatchObject([{ rule: 'shadow', allowed: false, shadow: true }])
  })

  test('is in no header', () => {
    const { gate } = gateOf(shadow, enforced, { name: 'open', unlimited: true })
    const headers = rateLimitHeaders(gate.limitSync({ user: 'u' }), gate.rules)
    expect(headers).toEqual({ 'RateLimit-Policy': '"enforced";q=3;w=1', RateLimit: '"enforced";r=2;t=1' })
    const alone = gateOf(shadow).gate
    expect(rateLimitHeaders(alone.limitSync({ user: 'u' }), alone.rules)).toEqual({})
  })

  test('has nothing to give back of what it would have refused', async () => {
    const { gate } = gateOf(shadow, enforced)
    gate.limitSync({ user: 'u' })
    const decision = gate.limitSync({ user: 'u' })
    expect(await gate.refund({ user: 'u' }, { decision })).toEqual(new Map(Object.entries({ shadow: 0, enforced: 1 })))
  })

  test('keeps nobody waiting', async () => {
    const { gate } = gateOf({ ...shadow, limit: 0 }, enforced)
    expect(await gate.acquire({ user: 'u' })).toMatchObject({ allowed: true, rule: 'enforced' })
    expect(await gateOf({ ...shadow, limit: 0 }).gate.acquire({ user: 'u' })).toMatchObject({ allowed: true })
  })

  // The kind of fault: a rule that only is tried fails the request by what it cannot read.
  test('passes by what it cannot count', async () => {
    const rules: RuleOptions[] = [
      enforced,
      { ...shadow, cost: 'bytes' },
      { ...shadow, name: 'broken', limit: () => Number.NaN },
    ]
    const { gate } = gateOf(...rules)
    for (const bytes of ['x', '-1']) {
      expect(gate.limitSync({ user: 'u', bytes })).toMatchObject({ allowed: true, rules: [{ rule: 'enforced' }] })
    }
    expect([...gate.skipped()]).toEqual([
      ['shadow', 2],
      ['broken', 2],
    ])
    expect(() => gateOf({ ...enforced, cost: 'bytes' }).gate.limitSync({ bytes: 'x' })).toThrow('descriptor.bytes')
  })

  // The kind of fault: requests that nothing refuses stand in one line, and the last of them are too late.
  test('makes nobody wait for anybody', async () => {
    const store = memoryStore()
    const decide = store.decide.bind(store)
    const held: (() => void)[] = []
    store.decide = async (checks, mode) => {
      await new Promise<void>((resolve) => held.push(resolve))
      return decide(checks, mode)
    }
    const gate = createGate({ rules: [shadow], store })
    const asked = Array.from({ length: 50 }, (_, i) => gate.acquire({ user: `u${i % 5}` }))
    await new Promise((resolve) => setImmediate(resolve))
    expect(held).toHaveLength(50)
    for (const answer of held) answer()
    expect((await Promise.all(asked)).every(({ allowed }) => allowed)).toBe(true)
  })
})
