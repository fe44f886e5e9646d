import { createGate, createLimiter, TidegateError } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clusterKinds, type StoreUnderTest, storeKinds } from './stores.ts'

for (const kind of [...storeKinds, ...clusterKinds]) {
  describe.skipIf(kind.skipped !== undefined)(`store: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    test('a peek behind a block that is over says what penalty a refusal would bring, as limit does', async () => {
      let now = 0
      const store = await under.open(() => now)
      const penalty = { blocks: [5, 50] }
      const limiter = createLimiter({ name: 'peek', limit: 1, window: 10, penalty, store })
      await limiter.limit('k')
      expect(await limiter.limit('k')).toMatchObject({ allowed: false, reason: 'over_limit', retryAfterMs: 10 })
      now = 6
      expect(await limiter.peek('k')).toMatchObject({ allowed: false, reason: 'over_limit', retryAfterMs: 50 })
      expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ allowed: true, used: 1, resetAfterMs: 4 })
      expect(await limiter.limit('k')).toMatchObject({ allowed: false, reason: 'over_limit', retryAfterMs: 50 })
      expect(await limiter.peek('k')).toMatchObject({ allowed: false, reason: 'blocked', retryAfterMs: 50 })
    })

    test('requests of one turn are decided in order', async () => {
      const limiter = createLimiter({ name: 'order', limit: 5, window: '1h', store: await under.open() })
      const decisions = await Promise.all(Array.from({ length: 9 }, () => limiter.limit('k')))
      expect(decisions.map(({ remaining }) => remaining)).toEqual([4, 3, 2, 1, 0, 0, 0, 0, 0])
      expect(decisions.map(({ allowed }) => allowed)).toEqual([...Array(5).fill(true), ...Array(4).fill(false)])
    })

    test('more requests in one turn than a batch holds, over many keys and costs, each as if alone', async () => {
      const limiter = createLimiter({ name: 'many', limit: 100, window: '1h', store: await under.open() })
      const requests = Array.from({ length: 1000 }, (_, i) => ({ key: `k${i % 50}`, cost: i % 7 }))
      // Until a node knows the script, what comes first to it can be done second.
      for (const { key } of requests.slice(0, 50)) await limiter.peek(key)
      const decisions = await Promise.all(requests.map(({ key, cost }) => limiter.limit(key, { cost })))
      const used = new Map<string, number>()
      for (const [i, { key, cost }] of requests.entries()) {
        const total = (used.get(key) ?? 0) + cost
        used.set(key, total)
        expect(decisions[i]).toMatchObject({ allowed: true, used: total, remaining: 100 - total })
      }
    })

    test('one bad request of a turn is refused alone; its neighbours are served', async () => {
      const limiter = createLimiter({ name: 'bad', limit: 5, window: '1h', store: await under.open() })
      const answers = await Promise.allSettled([
        limiter.limit('k'),
        limiter.limit('a\nb'),
        limiter.limit('k', { cost: -1 }),
        limiter.limit('x'.repeat(2 ** 20)),
        limiter.limit(''),
        limiter.limit('k'),
      ])
      expect(answers.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'rejected',
        'rejected',
        'rejected',
        'fulfilled',
      ])
      expect(answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []))).toEqual([
        'ERR_INVALID_KEY',
        'ERR_INVALID_COST',
        'ERR_INVALID_KEY',
        'ERR_INVALID_KEY',
      ])
      expect(answers[5]).toMatchObject({ value: { used: 2 } })
    })

    test('rules with the same keys and different windows, and limiters of different names, do not share counts', async () => {
      const store = await under.open()
      const gate = createGate({
        store,
        rules: [
          { name: 'second', key: ['user'], limit: 1, window: '1s' },
          { name: 'hour', key: ['user'], limit: 5, window: '1h' },
        ],
      })
      const other = createLimiter({ name: 'other', limit: 1, window: '1h', store })
      expect(await gate.limit({ user: 'u' })).toMatchObject({ rules: [{ used: 1 }, { used: 1 }] })
      expect(await other.limit('u')).toMatchObject({ allowed: true, used: 1 })
      expect(await gate.limit({ user: 'u' })).toMatchObject({ allowed: false, rules: [{ used: 1 }, { used: 1 }] })
    })

    test('a changed limit applies at once to what is there; a changed window starts anew', async () => {
      const store = await under.open()
      const of = (limit: number, window: string) => createLimiter({ name: 'changed', limit, window, store })
      await Promise.all(Array.from({ length: 6 }, () => of(10, '1h').limit('k')))
      expect(await of(5, '1h').peek('k')).toMatchObject({ allowed: false, used: 6, remaining: 0 })
      expect(await of(7, '1h').limit('k')).toMatchObject({ allowed: true, used: 7 })
      expect(await of(5, '2h').limit('k')).toMatchObject({ allowed: true, used: 1 })
    })

    test('lowered below what is used: cost 0 is refused too, until enough has ended', async () => {
      let now = 0
      const store = await under.open(() => now)
      await createLimiter({ name: 'low', limit: 10, window: 100, store }).limit('k', { cost: 8 })
      const lowered = createLimiter({ name: 'low', limit: 5, window: 100, store })
      now = 10
      expect(await lowered.limit('k', { cost: 0 })).toMatchObject({ allowed: false, used: 8, retryAfterMs: 90 })
      now = 100
      expect(await lowered.limit('k', { cost: 0 })).toMatchObject({ allowed: true, used: 0 })
    })

    // The kind of fault: settled twice, by two who both believe that it is theirs, and given back twice.
    test('a reservation is settled once, however many settle it at the same time', async () => {
      const limiter = createLimiter({ name: 'once', limit: 100, window: '1h', store: await under.open() })
      const { id } = await limiter.reserve('k', { cost: 80 })
      const settlements = await Promise.all(
        Array.from({ length: 10 }, (_, i) => limiter.settle('k', id as string, { cost: 20 + i })),
      )
      const settled = settlements.filter((one) => one.settled)
      expect(settled).toHaveLength(1)
      const { refunded } = settled[0] as { refunded: number }
      expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ used: 80 - refunded })
    })

    test('reservations of one turn are decided in order, after the requests before them; ids are made, and are their own', async () => {
      const limiter = createLimiter({ name: 'turn', limit: 10, window: '1h', store: await under.open() })
      const asked = [
        limiter.limit('k', { cost: 3 }),
        ...[1, 2, 3].map((cost) => limiter.reserve('k', { cost: 2 * cost })),
      ]
      const decisions = await Promise.all([...asked, limiter.limit('k')])
      expect(decisions.map(({ allowed, used }) => [allowed, used])).toEqual([
        [true, 3],
        [true, 5],
        [true, 9],
        [false, 9],
        [true, 10],
      ])
      const ids = decisions.map(({ id }) => id)
      expect([ids[0], ids[3], ids[4]]).toEqual([null, null, null])
      expect(ids[1]).toMatch(/^[0-9a-f-]{36}$/)
      expect(ids[2]).not.toBe(ids[1])
      expect(await limiter.settle('other', ids[1] as string, { cost: 1 })).toEqual({
        settled: false,
        charged: 0,
        refunded: 0,
      })
      expect(await limiter.settle('k', ids[1] as string, { cost: 1 })).toEqual({
        settled: true,
        charged: 0,
        refunded: 1,
      })
    })

    test('a rule in which the id is reserved already is charged nothing; the others are, or none', async () => {
      const store = await under.open()
      const tokens = { name: 'tokens', key: ['user'], limit: 10, window: '1h' }
      const site = { name: 'site', limit: 5, window: '1h' }
      const one = createGate({ store, rules: [tokens] })
      const both = createGate({ store, rules: [tokens, site] })
      const descriptor = { user: 'u' }
      await one.reserve(descriptor, { cost: 8, id: 'a' })
      expect(await both.reserve(descriptor, { cost: 8, id: 'a' })).toMatchObject({
        allowed: false,
        id: null,
        rules: [
          { allowed: true, used: 8 },
          { allowed: false, used: 0 },
        ],
      })
      expect(await both.reserve(descriptor, { cost: 4, id: 'a' })).toMatchObject({
        allowed: true,
        rules: [{ used: 8 }, { used: 4 }],
      })
      expect(await both.cancel(descriptor, 'a')).toEqual({
        settled: true,
        rules: [
          { rule: 'tokens', settled: true, charged: 0, refunded: 8 },
          { rule: 'site', settled: true, charged: 0, refunded: 4 },
        ],
      })
    })

    test('a reservation that no rule matches is allowed, and there is nothing to settle', async () => {
      const rules = [{ name: 'a', match: { route: '/a' }, limit: 1, window: '1h' }]
      const gate = createGate({ rules, store: await under.open() })
      const reserved = await gate.reserve({ route: '/b' }, { cost: 5, id: 'x' })
      expect(reserved).toMatchObject({ allowed: true, reason: 'no_rule', id: 'x' })
      expect(await gate.settle({ route: '/b' }, 'x', { cost: 9 })).toEqual({ settled: false, rules: [] })
    })

    test('a decision is plain data, which can be copied whole', async () => {
      const limiter = createLimiter({ name: 'plain', limit: 5, window: '1h', store: await under.open() })
      const decision = await limiter.limit('k')
      expect({ ...decision }).toEqual(decision)
      expect(structuredClone(decision)).toEqual(decision)
      expect({ ...decision }.rules).toEqual([expect.objectContaining({ rule: 'plain', used: 1 })])
    })

    test('what was asked before a reset is forgotten by it', async () => {
      const limiter = createLimiter({ name: 'reset', limit: 50, window: '1h', store: await under.open() })
      await limiter.limit('k')
      const asked = Array.from({ length: 20 }, () => limiter.limit('k'))
      const reset = limiter.reset('k')
      await Promise.all([...asked, reset])
      expect(await limiter.limit('k')).toMatchObject({ used: 1 })
    })

    test('what was asked before close is answered', async () => {
      const store = await under.open()
      const limiter = createLimiter({ name: 'close', limit: 50, window: '1h', store })
      const asked = Array.from({ length: 20 }, () => limiter.limit('k'))
      await Promise.all([limiter.close(), store.close()])
      expect((await Promise.all(asked)).map(({ used }) => used)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    })

    test('a store that was handed in stays open when limiter and gate close', async () => {
      const store = await under.open()
      await createLimiter({ name: 'a', limit: 5, window: '1h', store }).close()
      await createGate({ rules: [{ name: 'b', limit: 5, window: '1h' }], store }).close()
      await store.ping()
      expect(await createLimiter({ name: 'c', limit: 5, window: '1h', store }).limit('k')).toMatchObject({ used: 1 })
    })

    test('a clock that returns no time is an error, and nothing is counted', async () => {
      let now: unknown = 5
      const limiter = createLimiter({
        name: 'clock',
        limit: 5,
        window: 100,
        store: await under.open(() => now as number),
      })
      await limiter.limit('k')
      for (const bad of [Number.NaN, -1, 1.5, 2 ** 60, Number.POSITIVE_INFINITY, '5', undefined]) {
        now = bad
        await expect(limiter.limit('k')).rejects.toMatchObject({ code: 'ERR_INVALID_CLOCK' })
      }
      now = 6
      expect(await limiter.limit('k')).toMatchObject({ used: 2 })
    })

    test('after close every call is an error', async () => {
      const store = await under.open()
      const limiter = createLimiter({ name: 'closed', limit: 5, window: 100, store })
      await limiter.close()
      const reservations = [
        limiter.reserve('k', { cost: 1 }),
        limiter.settle('k', 'a', { cost: 1 }),
        limiter.cancel('k', 'a'),
      ]
      const calls = [limiter.limit('k'), limiter.peek('k'), limiter.reset('k'), ...reservations]
      for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'ERR_CLOSED' })
      await store.close()
      const late = createLimiter({ name: 'late', limit: 5, window: 100, store })
      await expect(late.limit('k')).rejects.toBeInstanceOf(TidegateError)
      await expect(late.limit('k')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
      await expect(late.reserve('k', { cost: 1 })).rejects.toMatchObject({ code: 'ERR_CLOSED' })
      await expect(store.ping()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    })
  })
}
