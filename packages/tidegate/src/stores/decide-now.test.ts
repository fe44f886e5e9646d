import { expect, test } from 'vitest'
import { type RuleDecision, refused } from '../decision.ts'
import { createGate } from '../gate.ts'
import { createLimiter } from '../limiter.ts'
import { memoryStore } from './memory/memory-store.ts'
import type { Check, Mode, Store } from './store.ts'

/** A store that is asked over a promise, and answers requests of the key `known` by itself. */
function remembering() {
  const inner = memoryStore({ clock: () => 5_000 })
  const asked: [string, Mode][] = []
  const own = new WeakSet<RuleDecision>()
  const store: Store = {
    ...bound(inner),
    decide: (checks, mode) => {
      asked.push(['decide', mode])
      return inner.decide(checks, mode)
    },
    decideNow: (checks, mode) => {
      asked.push(['decideNow', mode])
      if (!checks.every(({ key }) => key === 'known')) return undefined
      const figures = checks.map(({ rule, cost }) => refused(rule, cost, 1, null, 70, 5_000))
      for (const one of figures) own.add(one)
      return figures
    },
    sourceOf: (figures) => (own.has(figures) ? 'denied-cache' : 'store'),
  }
  return { store, asked }
}

function bound(inner: Store): Store {
  return {
    clock: inner.clock,
    decide: (checks: readonly Check[], mode: Mode) => inner.decide(checks, mode),
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
}

const REFUSED = { allowed: false, source: 'denied-cache', retryAfterMs: null, at: 5_000 }

test('a limiter asks the store for what it cannot answer now alone', async () => {
  const { store, asked } = remembering()
  const limiter = createLimiter({ name: 'l', limit: 1, window: 100, store })
  expect(await limiter.limit('known')).toMatchObject({ ...REFUSED, id: null, rules: [{ rule: 'l', allowed: false }] })
  expect(await limiter.peek('known')).toMatchObject(REFUSED)
  expect(await limiter.acquire('known')).toMatchObject(REFUSED)
  expect(asked.map(([what]) => what)).not.toContain('decide')
  expect(await limiter.limit('other')).toMatchObject({ allowed: true, source: 'store' })
  expect(asked.slice(-2)).toEqual([
    ['decideNow', 'consume'],
    ['decide', 'consume'],
  ])
})

test('what is answered now keeps the id of its request', async () => {
  const { store } = remembering()
  const limiter = createLimiter({ name: 'l', algorithm: 'sliding-log', limit: 1, window: 100, store })
  expect(await limiter.limit('known', { id: 'mine' })).toMatchObject({ ...REFUSED, id: 'mine' })
})

test('a gate does the same with the checks of all its rules', async () => {
  const { store, asked } = remembering()
  const rules = ['one', 'two'].map((name) => ({ name, key: ['user'], limit: 1, window: 100 }))
  const gate = createGate({ rules, store })
  expect(await gate.limit({ user: 'known' })).toMatchObject({ ...REFUSED, rules: [{ rule: 'one' }, { rule: 'two' }] })
  expect(await gate.peek({ user: 'known' })).toMatchObject(REFUSED)
  expect(await gate.acquire({ user: 'known' })).toMatchObject(REFUSED)
  expect(asked.map(([what]) => what)).not.toContain('decide')
  expect(await gate.limit({ user: 'other' })).toMatchObject({ allowed: true, source: 'store' })
})

test('a reservation is always put to the store', async () => {
  const { store, asked } = remembering()
  const limiter = createLimiter({ name: 'l', limit: 1, window: 100, store })
  const reserved = await limiter.reserve('known', { cost: 1, id: 'r', expiresIn: 1_000 })
  expect(reserved).toMatchObject({ allowed: true, source: 'store' })
  expect(asked).toEqual([])
})
