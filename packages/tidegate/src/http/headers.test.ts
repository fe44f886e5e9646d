import { describe, expect, it } from 'vitest'
import { createGate } from '../gate.ts'
import { createLimiter } from '../limiter.ts'
import { compileRules, type RuleOptions } from '../rule.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { rateLimitHeaders } from './headers.ts'

/** A gate on a clock that the test sets. */
function gateOf(rules: RuleOptions[]) {
  let now = 1_000_000
  const gate = createGate({ rules, store: memoryStore({ clock: () => now }) })
  return {
    at: (time: number) => {
      now = time
    },
    headers: (cost = 1, descriptor = { user: 'u' }) =>
      rateLimitHeaders(gate.limitSync(descriptor, { cost }), gate.rules),
  }
}

describe('rateLimitHeaders', () => {
  it('announces limit, window, remainder and reset of an admitted request', () => {
    const { headers } = gateOf([{ name: 'burst', limit: 100, window: '1m' }])
    expect(headers()).toEqual({ 'RateLimit-Policy': '"burst";q=100;w=60', RateLimit: '"burst";r=99;t=60' })
  })

  it('announces every rule in the order of the rules', () => {
    const { headers } = gateOf([
      { name: 'burst', limit: 100, window: '1m' },
      { name: 'daily', limit: 1000, window: '1d' },
    ])
    expect(headers()).toEqual({
      'RateLimit-Policy': '"burst";q=100;w=60, "daily";q=1000;w=86400',
      RateLimit: '"burst";r=99;t=60, "daily";r=999;t=86400',
    })
  })

  it('announces on a refusal when to come back, the same in both places', () => {
    const { headers, at } = gateOf([{ name: 'two', limit: 2, window: '1m' }])
    headers()
    at(1_010_000)
    headers()
    at(1_020_000)
    expect(headers()).toEqual({
      'RateLimit-Policy': '"two";q=2;w=60',
      RateLimit: '"two";r=0;t=40',
      'Retry-After': '40',
    })
  })

  it('rounds a wait up to whole seconds, and to one at least', () => {
    const { headers, at } = gateOf([{ name: 'one', limit: 1, window: '1m' }])
    headers()
    for (const [time, seconds] of [
      [1_000_000, 60],
      [1_000_001, 60],
      [1_058_999, 2],
      [1_059_000, 1],
      [1_059_001, 1],
      [1_059_999, 1],
    ] as const) {
      at(time)
      expect(headers(), `at ${time}`).toMatchObject({
        'Retry-After': `${seconds}`,
        RateLimit: `"one";r=0;t=${seconds}`,
      })
    }
    at(1_060_000)
    expect(headers()).not.toHaveProperty('Retry-After')
  })

  it('gives the wait of the longest where several refuse, and the reset of one that does not', () => {
    const { headers } = gateOf([
      { name: 'minute', limit: 1, window: '1m' },
      { name: 'hour', limit: 1, window: '1h' },
      { name: 'day', limit: 9, window: '1d' },
    ])
    headers()
    expect(headers()).toEqual({
      'RateLimit-Policy': '"minute";q=1;w=60, "hour";q=1;w=3600, "day";q=9;w=86400',
      RateLimit: '"minute";r=0;t=60, "hour";r=0;t=3600, "day";r=8;t=86400',
      'Retry-After': '3600',
    })
  })

  it('gives no time for a refusal that never ends', () => {
    const { headers } = gateOf([{ name: 'small', limit: 5, window: '1m' }])
    expect(headers(6)).toEqual({ 'RateLimit-Policy': '"small";q=5;w=60', RateLimit: '"small";r=5' })
    expect(gateOf([{ name: 'none', limit: 0, window: '1m' }]).headers()).toEqual({
      'RateLimit-Policy': '"none";q=0;w=60',
      RateLimit: '"none";r=0',
    })
  })

  it('gives a reset of 0 for a key that is untouched', () => {
    const { headers } = gateOf([{ name: 'calm', limit: 5, window: '1m' }])
    expect(headers(0)).toMatchObject({ RateLimit: '"calm";r=5;t=0' })
  })

  it('leaves out a window that is not in whole seconds', () => {
    const policyOf = (window: number) => gateOf([{ name: 'w', limit: 5, window }]).headers()['RateLimit-Policy']
    expect(policyOf(250)).toBe('"w";q=5')
    expect(policyOf(999)).toBe('"w";q=5')
    expect(policyOf(1000)).toBe('"w";q=5;w=1')
    expect(policyOf(1500)).toBe('"w";q=5')
    expect(policyOf(366 * 86_400_000)).toBe('"w";q=5;w=31622400')
  })

  it("announces the window of a fixed window, and none where its length is the calendar's", () => {
    const { headers } = gateOf([
      { name: 'epoch', limit: 9, algorithm: 'fixed-window', window: '1m' },
      { name: 'hit', limit: 9, algorithm: 'fixed-window', window: '1h', align: 'first-hit' },
      { name: 'short', limit: 9, algorithm: 'fixed-window', window: 1500 },
      { name: 'minute', limit: 9, algorithm: 'fixed-window', align: 'minute' },
      { name: 'berlin', limit: 9, algorithm: 'fixed-window', align: 'day', timeZone: 'Europe/Berlin' },
    ])
    // 1,000 s after the epoch: 0:16:40 UTC, and in Berlin 1:16:40.
    expect(headers()).toEqual({
      'RateLimit-Policy': '"epoch";q=9;w=60, "hit";q=9;w=3600, "short";q=9, "minute";q=9, "berlin";q=9',
      RateLimit: '"epoch";r=8;t=20, "hit";r=8;t=3600, "short";r=8;t=1, "minute";r=8;t=20, "berlin";r=8;t=81800',
    })
  })

  it('gives no window where the limit is not what one admits', () => {
    const of = (rule: Omit<RuleOptions, 'name'>) => gateOf([{ name: 'w', ...rule }]).headers()['RateLimit-Policy']
    expect(of({ algorithm: 'token-bucket', limit: 10, window: '1m' })).toBe('"w";q=10;w=60')
    expect(of({ algorithm: 'token-bucket', limit: 100, window: '1m', capacity: 20 })).toBe('"w";q=20')
    // An override has made the bucket larger, and no faster.
    expect(of({ algorithm: 'token-bucket', limit: 10, window: '1m', overrides: [{ user: 'u', capacity: 50 }] })).toBe(
      '"w";q=50',
    )
    expect(of({ algorithm: 'concurrency', limit: 2, window: '30s' })).toBe('"w";q=2')
    expect(of({ algorithm: 'quota', limit: 2 })).toBe('"w";q=2')
    expect(of({ algorithm: 'fixed-window', limit: 2, align: 'day' })).toBe('"w";q=2')
  })

  it('says nothing where no rule matched', () => {
    expect(gateOf([{ name: 'one', limit: 5, window: '1m', match: { route: '/a' } }]).headers()).toEqual({})
  })

  it('serves a limiter, given its rule', () => {
    const options = { limit: 5, window: '1m' }
    const limiter = createLimiter({ ...options, name: 'tenants', store: memoryStore({ clock: () => 1000 }) })
    const headers = rateLimitHeaders(limiter.limitSync('a'), compileRules([{ ...options, name: 'tenants' }]))
    expect(headers).toEqual({ 'RateLimit-Policy': '"tenants";q=5;w=60', RateLimit: '"tenants";r=4;t=60' })
  })
})

describe('the older forms', () => {
  const rules = [
    { name: 'burst', limit: 2, window: '1m' },
    { name: 'daily', limit: 1000, window: '1d' },
  ]
  let now = 1_000_000_500
  const gate = createGate({ rules, store: memoryStore({ clock: () => now }) })
  const [admitted, later] = [gate.limitSync({}), gate.limitSync({})]
  now += 10_000
  const refused = gate.limitSync({})

  it('draft 6 and 7 have the figures of the deciding rule', () => {
    expect(later.remaining).toBe(0)
    expect(rateLimitHeaders(admitted, gate.rules, { standardHeaders: 'draft-6' })).toEqual({
      'RateLimit-Policy': '2;w=60, 1000;w=86400',
      'RateLimit-Limit': '2',
      'RateLimit-Remaining': '1',
      'RateLimit-Reset': '60',
    })
    expect(rateLimitHeaders(refused, gate.rules, { standardHeaders: 'draft-7' })).toEqual({
      'RateLimit-Policy': '2;w=60, 1000;w=86400',
      RateLimit: 'limit=2, remaining=0, reset=50',
      'Retry-After': '50',
    })
  })

  it('the X- headers have their reset as seconds since the epoch, or from now', () => {
    const legacy = (legacyHeaders: 'epoch' | 'delta', laterMs = 0) =>
      rateLimitHeaders(refused, gate.rules, { standardHeaders: false, legacyHeaders, laterMs })
    const shared = { 'X-RateLimit-Limit': '2', 'X-RateLimit-Remaining': '0' }
    expect(legacy('delta')).toEqual({ ...shared, 'X-RateLimit-Reset': '50', 'Retry-After': '50' })
    expect(legacy('epoch')).toEqual({ ...shared, 'X-RateLimit-Reset': '1000061', 'Retry-After': '50' })
    expect(legacy('delta', 5000)).toEqual({ ...shared, 'X-RateLimit-Reset': '55', 'Retry-After': '55' })
  })

  it('none where none are wanted, but when to come back', () => {
    expect(rateLimitHeaders(admitted, gate.rules, { standardHeaders: false })).toEqual({})
    expect(rateLimitHeaders(refused, gate.rules, { standardHeaders: false })).toEqual({ 'Retry-After': '50' })
  })

  it('no reset where it never comes', () => {
    const never = createGate({ rules: [{ name: 'none', limit: 0, window: '1m' }] }).limitSync({})
    expect(rateLimitHeaders(never, [], { standardHeaders: 'draft-6' })).not.toHaveProperty('RateLimit-Reset')
    expect(rateLimitHeaders(never, [], { standardHeaders: 'draft-7' })['RateLimit']).toBe('limit=0, remaining=0')
    expect(rateLimitHeaders(never, [], { legacyHeaders: 'epoch' })).not.toHaveProperty('X-RateLimit-Reset')
  })
})
