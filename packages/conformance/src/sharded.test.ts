import * as fc from 'fast-check'
import { createGate, createLimiter, memoryStore } from 'tidegate'
import { compileRule, shardOfId } from 'tidegate/store'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compare } from './differential.ts'
import type { LimitedRule } from './oracle/counter.ts'
import { sequences } from './sequence.ts'
import { clusterKinds, type StoreUnderTest, storeKinds } from './stores.ts'

/** The rules that can be split, split. */
function split(rules: readonly LimitedRule[], shards: number): LimitedRule[] {
  return rules.map((rule) => {
    try {
      compileRule({ ...rule, shards }, 'rule')
      return { ...rule, shards }
    } catch {
      return rule
    }
  })
}

for (const kind of [...storeKinds, ...clusterKinds]) {
  describe.skipIf(kind.skipped !== undefined)(`shards: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    test('a limit of 10 over 3 shards: 4, 3 and 3, by turns, and not one more', async () => {
      const limiter = createLimiter({ name: 'a', limit: 10, window: '1h', shards: 3, store: await under.open() })
      const decisions = []
      for (let i = 0; i < 15; i++) decisions.push(await limiter.limit('k'))
      const admitted = decisions.filter(({ allowed }) => allowed).map(({ rules: [figures] }) => figures?.shard)
      expect([0, 1, 2].map((shard) => admitted.filter((one) => one === shard).length)).toEqual([4, 3, 3])
      for (const { limit, rules } of decisions) expect(limit).toBe(rules[0]?.shard === 0 ? 4 : 3)
    })

    test('an id goes to its shard each time, refused there while others have room; figures are those of the shard', async () => {
      const limiter = createLimiter({ name: 'a', limit: 6, window: '1h', shards: 3, store: await under.open() })
      const shard = shardOfId('me', 3)
      for (const used of [1, 2]) {
        const decision = await limiter.limit('k', { id: 'me' })
        expect(decision).toMatchObject({ allowed: true, limit: 2, used, remaining: 2 - used, rules: [{ shard }] })
      }
      expect(await limiter.peek('k', { id: 'me' })).toMatchObject({ allowed: false, used: 2, rules: [{ shard }] })
      expect(await limiter.limit('k', { id: 'me', cost: 3 })).toMatchObject({ reason: 'cost_exceeds_limit' })
      const other = ['a', 'b', 'c', 'd', 'e', 'f'].find((id) => shardOfId(id, 3) !== shard) as string
      expect(await limiter.limit('k', { id: other })).toMatchObject({ allowed: true, used: 1 })
    })

    test('a peek tells of the shard that is next, and does not end its turn', async () => {
      const limiter = createLimiter({ name: 'a', limit: 9, window: '1h', shards: 3, store: await under.open() })
      for (let i = 0; i < 9; i++) {
        const peeked = await limiter.peek('k')
        expect((await limiter.limit('k')).rules[0]?.shard).toBe(peeked.rules[0]?.shard)
      }
      expect(await limiter.peek('k')).toMatchObject({ allowed: false, used: 3, remaining: 0 })
    })

    test('a refund finds the shard of its decision; without one the oldest are given back, of whichever shard', async () => {
      let now = 1000
      const store = await under.open(() => now)
      const limiter = createLimiter({ name: 'a', limit: 6, window: 10_000, shards: 3, store })
      const decisions = []
      for (let i = 0; i < 6; i++, now += 10) decisions.push(await limiter.limit('k'))
      const latest = decisions[5] as (typeof decisions)[number]
      expect(await limiter.refund('k', { decision: JSON.parse(JSON.stringify(latest)) })).toBe(1)
      expect((await limiter.limit('k')).rules[0]?.shard).toBe(decisions[0]?.rules[0]?.shard)
      const again = await limiter.limit('k')
      expect(again.allowed || (await limiter.limit('k')).allowed).toBe(true)
      // The three oldest, one of each shard.
      expect(await limiter.refund('k', { cost: 1 })).toBe(1)
      now = 1000 + 10_000
      const freed = await Promise.all(['0', '1', '2'].map(() => limiter.peek('k', { cost: 0 })))
      expect(freed.every(({ allowed }) => allowed)).toBe(true)
      expect(await limiter.refund('k', { cost: 100 })).toBeLessThanOrEqual(6)
      for (let i = 0; i < 6; i++) expect(await limiter.limit('k')).toMatchObject({ allowed: true })
      expect(await limiter.limit('k')).toMatchObject({ allowed: false })
    })

    test('reset, block and unblock are for all shards, entries are of all, leases are found by their ids', async () => {
      const store = await under.open()
      const limiter = createLimiter({ name: 'a', limit: 9, window: '1h', shards: 3, store, algorithm: 'sliding-log' })
      const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
      const allowed = await Promise.all(ids.map((id) => limiter.limit('k', { id })))
      const listed = (await limiter.entries('k')).map(({ id }) => id)
      expect(listed.sort()).toEqual(ids.filter((_, i) => allowed[i]?.allowed))
      expect(await limiter.refund('k', { id: listed[0] as string })).toBe(1)
      expect(await limiter.entries('k')).toHaveLength(listed.length - 1)
      await limiter.block('k', '1h')
      for (const id of ids) expect(await limiter.limit('k', { id })).toMatchObject({ reason: 'blocked' })
      expect(await limiter.unblock('k')).toBe(true)
      await limiter.reset('k')
      expect(await limiter.entries('k')).toEqual([])

      const slots = createLimiter({ name: 's', limit: 6, window: '1h', shards: 3, store, algorithm: 'concurrency' })
      expect(await slots.limit('k', { id: 'job' })).toMatchObject({ allowed: true, id: 'job' })
      expect(await slots.renew('k', 'job')).toBe(true)
      expect(await slots.release('k', 'job')).toBe(true)
      expect(await slots.release('k', 'job')).toBe(false)
    })

    test('reservations are settled in their shard; together with another rule all are charged or none', async () => {
      const store = await under.open()
      const gate = createGate({
        store,
        rules: [
          { name: 'site', limit: 12, window: '1h', shards: 3 },
          { name: 'user', key: ['user'], limit: 2, window: '1h' },
        ],
      })
      const reserved = await gate.reserve({ user: 'u' }, { cost: 2, id: 'r' })
      expect(reserved).toMatchObject({
        allowed: true,
        rules: [{ used: 2, limit: 4, shard: shardOfId('r', 3) }, { used: 2 }],
      })
      expect(await gate.limit({ user: 'u' }, { id: 'r' })).toMatchObject({
        allowed: false,
        rule: 'user',
        rules: [{ allowed: true, used: 2 }, { allowed: false }],
      })
      expect(await gate.settle({ user: 'u' }, 'r', { cost: 1 })).toMatchObject({
        rules: [{ refunded: 1 }, { refunded: 1 }],
      })
      expect(await gate.peek({ user: 'u' }, { id: 'r', cost: 0 })).toMatchObject({ rules: [{ used: 1 }, { used: 1 }] })
    })

    test('memory and store agree on every field of random requests of split rules', { timeout: 300_000 }, async () => {
      let steps = 0
      const agreeing = fc.asyncProperty(sequences(120), fc.integer({ min: 2, max: 3 }), async (sequence, shards) => {
        const rules = split(sequence.rules, shards)
        await compare({ ...sequence, rules }, (clock) => under.open(clock), undefined, false)
        steps += sequence.steps.length
      })
      while (steps < Math.min(kind.steps, 5_000)) await fc.assert(agreeing, { numRuns: 15 })
    })
  })
}

test('in no window more than the limit, whatever the shards, the ids and the costs', () => {
  const requests = fc.array(
    fc.record({
      move: fc.nat(9),
      cost: fc.nat(4),
      id: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { nil: undefined }),
    }),
    { minLength: 20, maxLength: 150 },
  )
  const bounded = fc.property(requests, fc.integer({ min: 1, max: 7 }), fc.nat(30), (all, shards, more) => {
    const [limit, window] = [shards + more, 40]
    let now = 0
    const limiter = createLimiter({ name: 'a', limit, window, shards, store: memoryStore({ clock: () => now }) })
    const admitted: { at: number; cost: number }[] = []
    for (const { move, cost, id } of all) {
      now += move
      if (!limiter.limitSync('k', { cost, ...(id !== undefined && { id }) }).allowed) continue
      admitted.push({ at: now, cost })
      const counting = admitted.filter(({ at }) => at > now - window)
      expect(counting.reduce((sum, one) => sum + one.cost, 0)).toBeLessThanOrEqual(limit)
    }
  })
  void fc.assert(bounded, { numRuns: 300 })
})

test('two keys that alternate do not take turns at each other’s cost', () => {
  const limiter = createLimiter({ limit: 20, window: '1h', shards: 2 })
  let admitted = 0
  for (let i = 0; i < 40; i++) if (limiter.limitSync(i % 2 === 0 ? 'a' : 'b').allowed) admitted++
  expect(admitted).toBe(40)
})
