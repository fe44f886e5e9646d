import { createGate, createLimiter, type LeaseEvent } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'

describeRedis('leased rules', (redis) => {
  const open = async (events: LeaseEvent[] = []) => {
    await redis.client.flushall()
    return redisStore(redis.client, {
      guarded: false,
      instances: 1,
      observer: { lease: (event) => events.push(event) },
    })
  }

  test('one process gets the whole limit, in order, and what is refused says when it would be admitted', async () => {
    const store = await open()
    const limiter = createLimiter({ name: 'a', limit: 100, window: '20s', mode: 'leased', store })
    const decisions = await Promise.all(Array.from({ length: 150 }, () => limiter.limit('k')))
    expect(decisions.map(({ allowed }) => allowed)).toEqual([...Array(100).fill(true), ...Array(50).fill(false)])
    expect(decisions.map(({ remaining }) => remaining).slice(-51)).toEqual(Array(51).fill(0))
    expect(decisions[0]).toMatchObject({ source: 'lease', used: 1, limit: 100, rule: 'a', reason: 'ok' })
    const refused = decisions[149] as (typeof decisions)[number]
    expect(refused).toMatchObject({ source: 'store', reason: 'over_limit', used: 100 })
    expect(refused.retryAfterMs).toBeGreaterThan(19_000)
    expect(refused.retryAfterMs).toBeLessThanOrEqual(21_000)
    expect(await limiter.limit('k', { cost: 101 })).toMatchObject({ reason: 'cost_exceeds_limit', retryAfterMs: null })
    expect(store.leaseState()).toMatchObject({ taken: 100, used: 100, held: 0 })
    await store.close()
  })

  test('a refund goes back to the batch, peeks charge nothing, a block and a reset hold at once', async () => {
    const store = await open()
    const limiter = createLimiter({ name: 'a', limit: 5, window: '1h', mode: 'leased', store })
    const decisions = []
    for (let i = 0; i < 5; i++) decisions.push(await limiter.limit('k'))
    expect(await limiter.limit('k')).toMatchObject({ allowed: false, used: 5 })
    expect(await limiter.refund('k', { decision: JSON.parse(JSON.stringify(decisions[4])) })).toBe(1)
    for (let i = 0; i < 3; i++) expect(await limiter.peek('k')).toMatchObject({ allowed: true, used: 5, remaining: 0 })
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, used: 5 })
    expect(await limiter.limit('k')).toMatchObject({ allowed: false, used: 5 })
    await limiter.reset('k')
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, used: 1 })
    await limiter.block('k', '1h')
    expect(await limiter.limit('k')).toMatchObject({ allowed: false, reason: 'blocked', remaining: 0 })
    expect(await limiter.unblock('k')).toBe(true)
    expect(await limiter.limit('k')).toMatchObject({ allowed: true })
    expect(await limiter.reserve('k', { cost: 2, id: 'r' })).toMatchObject({ allowed: true, id: 'r' })
    expect(await limiter.settle('k', 'r', { cost: 1 })).toMatchObject({ settled: true, refunded: 1 })
    await store.close()
  })

  test('all or none: what another rule refuses is put back, and a refusal by the leased one charges no other', async () => {
    const store = await open()
    const gate = createGate({
      store,
      rules: [
        { name: 'site', limit: 4, window: '1h', mode: 'leased' },
        { name: 'user', key: ['user'], limit: 2, window: '1h' },
        { name: 'tried', limit: 1, window: '1h', mode: 'leased', shadow: true },
      ],
    })
    for (let i = 0; i < 2; i++) expect(await gate.limit({ user: 'a' })).toMatchObject({ allowed: true })
    for (let i = 0; i < 3; i++) {
      expect(await gate.limit({ user: 'a' })).toMatchObject({
        allowed: false,
        rule: 'user',
        rules: [{ used: 2 }, {}, {}],
      })
    }
    for (let i = 0; i < 2; i++) expect(await gate.limit({ user: 'b' })).toMatchObject({ allowed: true })
    expect(await gate.limit({ user: 'c' })).toMatchObject({
      allowed: false,
      rule: 'site',
      rules: [{ used: 4 }, { allowed: true, used: 0 }, { allowed: false, used: 1, shadow: true }],
    })
    expect((await gate.limit({ user: 'c' })).atomicity).toBe('compensated')
    await store.close()
  })

  test('what is held goes back on close, and another process has it; shares are told', async () => {
    const events: LeaseEvent[] = []
    const store = await open(events)
    const options = { name: 'a', limit: 1_000, window: '1h', mode: 'leased' as const }
    const limiter = createLimiter({ ...options, store })
    for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 8 }, () => limiter.limit('k')))
    const { taken, used, held } = store.leaseState()
    expect([used, taken]).toEqual([160, 160 + held])
    await store.close()
    const other = redisStore(redis.client, { guarded: false })
    expect(await createLimiter({ ...options, store: other }).peek('k', { cost: 0 })).toMatchObject({ used: 160 })
    const sum = (what: string) => events.reduce((total, one) => (one.what === what ? total + one.permits : total), 0)
    expect([sum('taken'), sum('returned'), sum('expired')]).toEqual([taken, held, 0])
    await other.close()
  })

  test('shards and leases together keep the limit', async () => {
    const store = await open()
    const limiter = createLimiter({ name: 'a', limit: 100, window: '1h', mode: 'leased', shards: 3, store })
    const decisions = await Promise.all(Array.from({ length: 200 }, () => limiter.limit('k')))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(100)
    await store.close()
  })
})

test.each([
  [{ mode: 'edge' }, /mode: expected 'exact' or 'leased': there are no edge shares yet/],
  [{ mode: 'leased', algorithm: 'sliding-log' }, /mode: expected 'exact', because sliding-log lists/],
  [{ mode: 'leased', algorithm: 'concurrency' }, /because what concurrency admits is held/],
  [{ mode: 'leased', algorithm: 'sliding-counter' }, /because sliding-counter estimates/],
  [{ mode: 'leased', algorithm: 'fixed-window', slack: 0.1 }, /slack: expected none with the algorithm fixed-window/],
  [{ mode: 'leased', penalty: { blocks: ['1m'] } }, /because a batch of permits/],
  [{ mode: 'leased', slack: 2 }, /slack: expected a number from 0 to 1/],
  [{ mode: 'leased', leaseMs: 5 }, /leaseMs: expected a whole number from 10 to 60,000/],
  [{ slack: 0.1 }, /slack: expected none without mode: 'leased'/],
  [{ mode: 'leased', algorithm: 'token-bucket', window: 10, limit: 100, capacity: 2 }, /leaseMs: expected at most/],
] as const)('%j is refused', (fields, message) => {
  expect(() => createLimiter({ limit: 10, window: '1s', ...(fields as object) })).toThrow(message)
})

test('in memory nothing is leased', () => {
  const limiter = createLimiter({ limit: 2, window: '1s', mode: 'leased', slack: 0.5 })
  expect([1, 2, 3].map(() => limiter.limitSync('k').allowed)).toEqual([true, true, false])
  expect(limiter.peekSync('k').source).toBe('store')
})
