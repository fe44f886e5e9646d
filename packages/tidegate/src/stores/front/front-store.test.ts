import { beforeEach, describe, expect, test } from 'vitest'
import type { RuleDecision } from '../../decision.ts'
import { createGate } from '../../gate.ts'
import { createLimiter, type LimiterOptions } from '../../limiter.ts'
import type { RefusedHereEvent } from '../../observer.ts'
import { memoryStore } from '../memory/memory-store.ts'
import type { Store } from '../store.ts'
import type { FrontOptions } from './front-options.ts'
import { frontStore } from './front-store.ts'

const START = 1_700_000_000_000
let now = START
const clock = () => now

beforeEach(() => {
  now = START
})

/** A memory store that is asked over promises alone, with another in front of it. */
function fronted(options: FrontOptions = {}) {
  const inner = memoryStore({ clock })
  const asked: string[] = []
  const local = new WeakSet<RuleDecision>()
  const control = { isLocal: false, isFailing: false, hold: undefined as Promise<void> | undefined }
  const behind: Store = {
    clock,
    decide: async (checks, mode) => {
      asked.push(mode)
      const figures = await inner.decide(checks, mode)
      await control.hold
      if (control.isFailing) throw new Error('gone')
      if (control.isLocal) for (const one of figures) local.add(one)
      return figures
    },
    sourceOf: (figures) => (local.has(figures) ? 'local' : 'store'),
    reserve: (checks, expiresInMs) => inner.reserve(checks, expiresInMs),
    settle: (rule, key, id, cost) => inner.settle(rule, key, id, cost),
    refund: (rule, key, cost, of) => inner.refund(rule, key, cost, of),
    renew: (rule, key, id) => inner.renew(rule, key, id),
    entries: (rule, key) => inner.entries(rule, key),
    block: (rule, key, ms) => inner.block(rule, key, ms),
    unblock: (rule, key) => inner.unblock(rule, key),
    reset: (rule, key) => inner.reset(rule, key),
    ping: () => inner.ping(),
    close: () => inner.close(),
  }
  const store = frontStore(behind, { clock, ...options })
  const limiter = (own: Partial<LimiterOptions> = {}) =>
    createLimiter({ name: 'l', limit: 2, window: 10_000, store, ...own } as LimiterOptions)
  return { store, inner, asked, control, limiter }
}

async function fill(limiter: { limit(key: string): Promise<{ allowed: boolean }> }, key = 'k') {
  while ((await limiter.limit(key)).allowed);
}

describe('what the store has just refused', () => {
  test('is refused here for a second, with figures that count down', async () => {
    const { asked, limiter } = fronted()
    const one = limiter()
    await fill(one)
    asked.length = 0
    now += 400
    const refusal = await one.limit('k')
    expect(refusal).toMatchObject({ allowed: false, source: 'denied-cache', reason: 'over_limit', used: 2, at: now })
    expect(refusal).toMatchObject({ retryAfterMs: 9_600, resetAfterMs: 9_600, remaining: 0 })
    expect(await one.peek('k')).toMatchObject({ source: 'denied-cache', retryAfterMs: 9_600 })
    expect(asked).toEqual([])
    now += 600
    expect(await one.limit('k')).toMatchObject({ allowed: false, source: 'store', retryAfterMs: 9_000 })
  })

  test('is admitted when its wait is over, and not before', async () => {
    const { asked, limiter } = fronted()
    const one = limiter({ window: 300 })
    await fill(one)
    now += 299
    expect(await one.limit('k')).toMatchObject({ source: 'denied-cache', retryAfterMs: 1 })
    now += 1
    expect(await one.limit('k')).toMatchObject({ allowed: true, source: 'store' })
    expect(asked.length).toBe(4)
  })

  test('is another request with another key, another cost or another limit', async () => {
    const { store, limiter } = fronted()
    await fill(limiter())
    expect(await limiter().limit('other')).toMatchObject({ allowed: true, source: 'store' })
    expect(await limiter().limit('k')).toMatchObject({ source: 'store', allowed: false })
    const one = limiter()
    await one.limit('k')
    expect(await one.limit('k', { cost: 2 })).toMatchObject({ source: 'store', allowed: false })
    expect(await one.limit('k', { cost: 0 })).toMatchObject({ source: 'store', allowed: true })
    expect(await createLimiter({ name: 'l', limit: 3, window: 10_000, store }).limit('k')).toMatchObject({
      allowed: true,
    })
  })

  test('of a fixed window refuses greater costs too, for as long', async () => {
    const { limiter, inner } = fronted()
    const one = limiter({ algorithm: 'fixed-window', limit: 5 })
    await one.limit('k', { cost: 4 })
    await one.limit('k', { cost: 2 })
    now += 10
    const refusal = await one.limit('k', { cost: 4 })
    expect(refusal.source).toBe('denied-cache')
    const [rule] = one.rules
    const [figures] = await inner.decide([{ rule: rule as never, key: 'k', cost: 4 }], 'peek')
    expect(refusal.rules).toEqual([figures])
    expect(await one.limit('k', { cost: 1 })).toMatchObject({ source: 'store', allowed: true })
    expect(await one.limit('k', { cost: 6 })).toMatchObject({ source: 'store', reason: 'cost_exceeds_limit' })
  })

  test('is asked anew once something was admitted that makes the wait longer', async () => {
    const { limiter } = fronted()
    const one = limiter({ limit: 4 })
    await one.limit('k', { cost: 3 })
    expect((await one.limit('k', { cost: 2 })).source).toBe('store')
    expect((await one.limit('k', { cost: 2 })).source).toBe('denied-cache')
    now += 5
    expect((await one.limit('k')).allowed).toBe(true)
    expect(await one.limit('k', { cost: 2 })).toMatchObject({ source: 'store', retryAfterMs: 9_995, used: 4 })
  })

  test.each([
    ['refund', (one) => one.refund('k')],
    ['reset', (one) => one.reset('k')],
    ['block', (one) => one.block('k', 50)],
    ['unblock', (one) => one.unblock('k')],
    ['settle', (one) => one.settle('k', 'none', { cost: 1 })],
  ] as [string, (one: ReturnType<typeof createLimiter>) => Promise<unknown>][])(
    'is forgotten at once by %s',
    async (_, operate) => {
      const { limiter } = fronted()
      const one = limiter()
      await fill(one)
      expect((await one.limit('k')).source).toBe('denied-cache')
      await operate(one)
      expect((await one.limit('k')).source).toBe('store')
    },
  )

  test('is not remembered where it was sent before something was given back', async () => {
    const { control, limiter } = fronted()
    const one = limiter()
    await fill(one, 'k')
    await one.reset('k')
    await one.limit('k', { cost: 2 })
    let release = () => {}
    control.hold = new Promise((resolve) => {
      release = resolve
    })
    const refusal = one.limit('k')
    await one.reset('k')
    release()
    expect(await refusal).toMatchObject({ allowed: false, source: 'store' })
    expect(await one.limit('k')).toMatchObject({ allowed: true, source: 'store' })
  })

  test('is neither figures of a fallback nor a lease, nor what the rule or the store does not want', async () => {
    const { control, limiter } = fronted()
    control.isLocal = true
    const one = limiter()
    await fill(one)
    expect((await one.limit('k')).source).toBe('local')
    control.isLocal = false
    const leases = limiter({ name: 'c', algorithm: 'concurrency' })
    await fill(leases)
    expect((await leases.limit('k')).source).toBe('store')
    const off = limiter({ name: 'off', deniedCache: false })
    await fill(off)
    expect((await off.limit('k')).source).toBe('store')
    const without = fronted({ deniedCache: false }).limiter()
    await fill(without)
    expect((await without.limit('k')).source).toBe('store')
  })

  test('by a penalty is refused here once it is blocked; the first refusal begins the block', async () => {
    const { limiter, inner } = fronted()
    const one = limiter({ penalty: { blocks: ['20s'] } })
    await fill(one)
    expect(await one.limit('k')).toMatchObject({ source: 'store', reason: 'blocked', retryAfterMs: 20_000 })
    now += 300
    const refusal = await one.limit('k')
    expect(refusal).toMatchObject({ source: 'denied-cache', reason: 'blocked', retryAfterMs: 19_700 })
    expect(inner.stats().blocks).toBe(1)
  })

  test('is not remembered by a clock that was set back', async () => {
    const { limiter } = fronted()
    const one = limiter()
    await fill(one)
    now -= 5
    expect(await one.limit('k')).toMatchObject({ allowed: false, source: 'store', at: START })
    expect(await one.limit('k')).toMatchObject({ allowed: false, source: 'store', at: START })
  })
})

describe('of a gate', () => {
  const rules = [
    { name: 'user', key: ['user'], limit: 1, window: 5_000 },
    { name: 'all', limit: 100, window: 5_000 },
  ]

  test('the figures of all rules of a refused request are told, while others are admitted', async () => {
    const { store } = fronted()
    const gate = createGate({ rules, store })
    await gate.limit({ user: 'u' })
    expect((await gate.limit({ user: 'u' })).source).toBe('store')
    await gate.limit({ user: 'v' })
    now += 10
    expect(await gate.limit({ user: 'u' })).toMatchObject({
      ...{ source: 'denied-cache', rule: 'user', retryAfterMs: 4_990 },
      rules: [
        { rule: 'user', allowed: false },
        { rule: 'all', allowed: true, at: now },
      ],
    })
  })

  test('one counter of several that is reset forgets the whole', async () => {
    const { store } = fronted()
    const gate = createGate({ rules, store })
    await gate.limit({ user: 'u' })
    await gate.limit({ user: 'u' })
    await gate.reset({})
    expect((await gate.limit({ user: 'u' })).source).toBe('store')
  })

  test('many users who are refused by one rule that they share are each remembered', async () => {
    const { store, asked } = fronted()
    const shared = [
      { name: 'user', key: ['user'], limit: 9, window: 5_000 },
      { ...rules[1], name: 'all', limit: 1 },
    ] as const
    const gate = createGate({ rules: shared as never, store })
    await gate.limit({ user: 'u0' })
    const users = ['u1', 'u2', 'u3']
    for (const user of users) expect((await gate.limit({ user })).source).toBe('store')
    asked.length = 0
    for (const user of users) expect(await gate.limit({ user })).toMatchObject({ source: 'denied-cache', rule: 'all' })
    expect(asked).toEqual([])
  })

  test('a rule in shadow that would refuse makes nothing refused', async () => {
    const { store } = fronted()
    const gate = createGate({ rules: [{ name: 's', limit: 1, window: 5_000, shadow: true }], store })
    for (let i = 0; i < 4; i++) expect(await gate.limit({})).toMatchObject({ allowed: true, source: 'store' })
  })

  test('changed rules know nothing of what was refused before', async () => {
    const { store } = fronted()
    const gate = createGate({ rules, store })
    await gate.limit({ user: 'u' })
    await gate.limit({ user: 'u' })
    gate.update([{ ...rules[0], limit: 2 } as never, rules[1] as never])
    expect(await gate.limit({ user: 'u' })).toMatchObject({ allowed: true, source: 'store' })
  })
})

test('the observer is told what was refused, by which rules', async () => {
  const events: RefusedHereEvent[] = []
  const { limiter } = fronted({ observer: { refusedHere: (event) => void events.push(event) } })
  const one = limiter()
  await fill(one)
  await one.limit('k')
  expect(events).toEqual([{ source: 'denied-cache', rules: ['l'] }])
})

test.each([
  [{ deniedCache: 1 }, 'deniedCache'],
  [{ maxDeniedKeys: 1 }, 'maxDeniedKeys'],
  [{ leadMs: -1 }, 'leadMs'],
  [{ maxDenied: 5 }, 'maxDenied'],
] as [object, string][])('options that are wrong are named: %j', (options, name) => {
  expect(() => frontStore(memoryStore(), options)).toThrow(name)
})
