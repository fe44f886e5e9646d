import { describe, expect, test } from 'vitest'
import { createGate } from '../../gate.ts'
import { createLimiter } from '../../limiter.ts'
import { compileRules, type Rule } from '../../rule.ts'
import { memoryStore } from './memory-store.ts'

describe('a memory store', () => {
  test('forgets keys that no longer count as new ones come, without a timer', () => {
    let now = 0
    const store = memoryStore({ clock: () => now })
    const limiter = createLimiter({ name: 'churn', limit: 5, window: 100, store })
    for (let i = 0; i < 200_000; i++) {
      now = Math.floor(i / 100)
      limiter.limitSync(`k${i}`)
    }
    // 10,000 keys are live at any time; those that are not are at most about half as many, and a few.
    expect(store.stats().keys).toBeGreaterThan(9_000)
    expect(store.stats().keys).toBeLessThan(17_000)
    expect(store.stats().evicted).toBe(0)
  })

  test('sweeps the keys of every limiter that shares it', () => {
    let now = 0
    const store = memoryStore({ clock: () => now })
    const still = createLimiter({ name: 'still', limit: 5, window: 100, store })
    for (let i = 0; i < 5000; i++) still.limitSync(`k${i}`)
    now = 1000
    const busy = createLimiter({ name: 'busy', limit: 5, window: 100, store })
    for (let i = 0; i < 5000; i++) busy.limitSync(`k${i}`)
    now = 2000
    for (let i = 5000; i < 10_000; i++) busy.limitSync(`k${i}`)
    expect(store.stats().keys).toBeLessThan(7000)
  })

  test('never holds more than maxKeys, and counts what it forgot before its time', () => {
    const store = memoryStore({ maxKeys: 100 })
    const limiter = createLimiter({ name: 'few', limit: 5, window: '1h', store })
    for (let i = 0; i < 1000; i++) limiter.limitSync(`k${i}`)
    expect(store.stats()).toEqual({ keys: 100, evicted: 900, blocks: 0, reservations: 0 })
  })

  test('under a flood of new keys, a key over its limit stays refused', () => {
    const store = memoryStore({ maxKeys: 1000 })
    const limiter = createLimiter({ name: 'flood', limit: 3, window: '1h', store })
    for (let i = 0; i < 10; i++) for (let k = 0; k < 20; k++) limiter.limitSync(`over-${k}`)
    for (let i = 0; i < 50_000; i++) limiter.limitSync(`flood-${i}`)
    for (let k = 0; k < 20; k++) expect(limiter.peekSync(`over-${k}`)).toMatchObject({ allowed: false, used: 3 })
    expect(store.stats().keys).toBe(1000)
  })

  test.each([64, 1000, 10_000])('a flood does not push out a count that all share, with %i keys', (maxKeys) => {
    let now = 1e12
    const store = memoryStore({ clock: () => now, maxKeys })
    const gate = createGate({
      store,
      rules: [
        { name: 'global', limit: 1000, window: '1s' },
        { name: 'user', key: ['user'], limit: 10, window: '1h' },
      ],
    })
    for (let i = 0; i < maxKeys; i++) {
      gate.limitSync({ user: `before-${i}` })
      now += 2
    }
    now += 1000
    let admitted = 0
    for (let i = 0; i < 20_000; i++) if (gate.limitSync({ user: `flood-${i}` }).allowed) admitted++
    expect(admitted).toBe(1000)
  })

  test('a request is never decided by a key that it has itself pushed out', () => {
    const store = memoryStore({ maxKeys: 1 })
    const rules = ['a', 'b', 'c'].map((name) => ({ name, limit: 10, window: '1h' as const }))
    const gate = createGate({ store, rules })
    let admitted = 0
    for (let i = 0; i < 1000; i++) if (gate.limitSync({}).allowed) admitted++
    expect(admitted).toBe(10)
    expect(store.stats().keys).toBe(3)
  })

  test('no charge is lost when keys of the same request are swept', () => {
    let now = 1e12
    const store = memoryStore({ clock: () => now })
    const gate = createGate({
      store,
      rules: [
        { name: 'session', key: ['session'], limit: 1_000_000, window: 1000 },
        { name: 'user', key: ['user'], limit: 1, window: 1000 },
      ],
    })
    const latest = new Map<string, number>()
    const early: string[] = []
    let seed = 1
    for (let i = 0; i < 200_000; i++) {
      now += i % 2
      seed = (seed * 48271) % 2147483647
      const user = `u${seed % 3000}`
      if (!gate.limitSync({ session: `s${i}`, user }).allowed) continue
      if (now - (latest.get(user) ?? 0) < 1000) early.push(user)
      latest.set(user, now)
    }
    expect(early).toEqual([])
  })

  test('a request that costs nothing pushes out nothing', () => {
    const store = memoryStore({ maxKeys: 1 })
    const gate = createGate({ store, rules: [{ name: 'user', key: ['user'], limit: 1, window: '1h' }] })
    gate.limitSync({ user: 'a' })
    for (let i = 0; i < 10; i++) gate.limitSync({ user: `b${i}` }, { cost: 0 })
    expect(gate.limitSync({ user: 'a' }).allowed).toBe(false)
  })

  test('two checks of one rule that is new are both remembered', async () => {
    const store = memoryStore()
    const [rule] = compileRules([{ name: 'user', key: ['user'], limit: 1, window: '1h' }])
    const checks = ['a', 'b'].map((key) => ({ rule: rule as Rule, key, cost: 1 }))
    expect(store.decideSync(checks, 'consume').map(({ allowed }) => allowed)).toEqual([true, true])
    expect(store.decideSync(checks, 'consume').map(({ allowed }) => allowed)).toEqual([false, false])
    for (const key of ['a', 'b']) await store.reset(rule as Rule, key)
    expect(store.stats().keys).toBe(0)
  })

  // The kind of fault: a round over keys that sees some twice and others never, because tables come and go under it.
  test('with few keys and several rules: never more keys than allowed, none over its limit pushed out before others', () => {
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 48271) % 2147483647
      return seed % below
    }
    for (let round = 0; round < 300; round++) {
      const maxKeys = 2 + random(8)
      const store = memoryStore({ maxKeys, clock: () => 1e12 })
      const rules = compileRules(['a', 'b', 'c'].map((name) => ({ name, key: [name], limit: 2, window: 1000 })))
      const known = new Map<string, { rule: Rule; key: string; used: number }>()
      for (let step = 0; step < 40; step++) {
        const checks = rules
          .filter(() => random(2) === 0)
          .map((rule) => ({ rule, key: `k${random(3)}`, cost: 1 }))
          .slice(0, 2)
        if (checks.length === 0) continue
        const allowed = store.decideSync(checks, 'consume').every((figures) => figures.allowed)
        if (allowed) {
          for (const { rule, key } of checks) known.set(rule.id + key, { rule, key, used: 0 })
        }
        expect(store.stats().keys).toBeLessThanOrEqual(maxKeys)
        const touched = new Set(checks.map(({ rule, key }) => rule.id + key))
        const now = [...known].map(([name, { rule, key, used: before }]) => {
          const { used } = store.decideOneSync(rule, key, 0, 'peek')
          return { name, before, used }
        })
        const lost = now.filter(({ before, used }) => before >= 2 && used === 0)
        const lesser = now.filter(({ name, used }) => used === 1 && !touched.has(name))
        if (lost.length > 0) expect(lesser).toEqual([])
        for (const { name, used } of now) {
          const entry = known.get(name)
          if (entry !== undefined) entry.used = used
          if (used === 0) known.delete(name)
        }
      }
    }
  })

  test('keys over their limit stay while others remain', () => {
    const store = memoryStore({ maxKeys: 1000 })
    const limiter = createLimiter({ name: 'full', limit: 5, window: '1h', store })
    for (let k = 0; k < 500; k++) limiter.limitSync(`over-${k}`, { cost: 5 })
    for (let k = 0; k < 500; k++) limiter.limitSync(`within-${k}`)
    for (let k = 0; k < 450; k++) limiter.limitSync(`new-${k}`)
    const open = Array.from({ length: 500 }, (_, k) => limiter.peekSync(`over-${k}`)).filter(({ allowed }) => allowed)
    expect(open).toEqual([])
  })

  test('a rule that nobody uses any more leaves nothing behind', () => {
    let now = 0
    const store = memoryStore({ clock: () => now })
    for (let i = 0; i < 20_000; i++) {
      now += 10
      createLimiter({ name: `rule-${i}`, limit: 5, window: 100, store }).limitSync('k')
    }
    expect(store.stats().keys).toBeLessThan(1100)
  })

  // The kind of fault: whatever lives long at the front of a list hides what could go, and what must stay goes instead.
  test('blocks for ever stay while others end, and those that are over leave nothing behind', async () => {
    let now = 0
    const store = memoryStore({ clock: () => now, maxKeys: 2000 })
    const limiter = createLimiter({ name: 'blocks', limit: 5, window: 100, store })
    for (let i = 0; i < 500; i++) await limiter.block(`evil${i}`, 'forever')
    for (let i = 0; i < 50_000; i++) {
      now = i
      await limiter.block(`brief${i}`, 100)
    }
    for (let i = 0; i < 500; i++) expect(limiter.peekSync(`evil${i}`)).toMatchObject({ reason: 'blocked' })
    expect(store.stats().blocks).toBeLessThan(2000)
    expect(store.stats().evicted).toBe(0)
  })

  test('there are never more blocks than maxKeys, over all rules: the one soonest to end goes first', async () => {
    const store = memoryStore({ clock: () => 0, maxKeys: 1000 })
    for (let rule = 0; rule < 5; rule++) {
      const limiter = createLimiter({ name: `rule${rule}`, limit: 5, window: 100, store })
      await limiter.block('evil', 'forever')
      for (let i = 0; i < 500; i++) await limiter.block(`k${i}`, 1000 + i)
      expect(limiter.peekSync('evil')).toMatchObject({ reason: 'blocked' })
    }
    expect(store.stats().blocks).toBe(1000)
    expect(store.stats().evicted).toBe(5 * 501 - 1000)
  })

  test('refusals, peeks and a cost of 0 take no room', () => {
    const store = memoryStore()
    const limiter = createLimiter({ name: 'none', limit: 1, window: '1h', store })
    for (let i = 0; i < 1000; i++) {
      limiter.limitSync(`k${i}`, { cost: 2 })
      limiter.limitSync(`k${i}`, { cost: 0 })
      limiter.peekSync(`k${i}`)
    }
    expect(store.stats().keys).toBe(0)
  })

  test('answers synchronously and asynchronously from the same counts', async () => {
    const limiter = createLimiter({ limit: 3, window: '1h' })
    expect(limiter.limitSync('k').used).toBe(1)
    expect((await limiter.limit('k')).used).toBe(2)
    expect(limiter.peekSync('k').used).toBe(3)
    await limiter.reset('k')
    expect(limiter.limitSync('k').used).toBe(1)
  })

  test.each([
    [{ maxKeys: 0 }, 'maxKeys: expected a whole number from 1 to 8,000,000, received 0'],
    [{ maxKeys: 1.5 }, 'maxKeys: expected a whole number'],
    [{ clock: 5 }, 'clock: expected a function that returns milliseconds since the epoch, received 5'],
    [{ maxkeys: 5 }, 'maxkeys: unknown option, expected one of clock, maxKeys'],
  ])('%j is refused', (options, message) => {
    expect(() => memoryStore(options as object)).toThrow(message)
  })
})
