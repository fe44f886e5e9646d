import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { monotonicClock } from '../clock.ts'
import type { RuleDecision } from '../decision.ts'
import { TidegateError } from '../errors.ts'
import { createGate } from '../gate.ts'
import { createLimiter } from '../limiter.ts'
import type { Observer } from '../observer.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store } from '../stores/store.ts'
import type { GuardOptions } from './guard-options.ts'
import { guard } from './guarded-store.ts'

type Mood = 'well' | 'silent' | 'failing' | 'full' | 'odd'

/** A memory store behind a network that a test can spoil; what it keeps back is answered with `release`. */
function remote(options: GuardOptions = {}, instances?: number) {
  const inner = memoryStore()
  const control = { mood: 'well' as Mood, asked: 0, pinged: 0, untils: [] as (number | undefined)[] }
  const kept: (() => void)[] = []
  const through = <T>(answer: () => Promise<T>): Promise<T> => {
    if (control.mood === 'silent') return new Promise<T>((resolve) => kept.push(() => resolve(answer())))
    if (control.mood === 'failing') return Promise.reject(new TidegateError('ERR_STORE_UNAVAILABLE', 'Redis: gone'))
    if (control.mood === 'odd') return Promise.reject(new Error('odd'))
    if (control.mood === 'full') {
      const text = 'Redis: the key k of rule r was not decided: OOM command not allowed'
      return Promise.reject(new TidegateError('ERR_STORE_UNAVAILABLE', text))
    }
    return answer()
  }
  const store: Store = {
    clock: inner.clock,
    decide: (checks, mode, until) => {
      control.asked++
      control.untils.push(until)
      return through(() => inner.decide(checks, mode))
    },
    reserve: (checks, expiresInMs) => through(() => inner.reserve(checks, expiresInMs)),
    settle: (rule, key, id, cost) => through(() => inner.settle(rule, key, id, cost)),
    refund: (rule, key, cost, of) => through(() => inner.refund(rule, key, cost, of)),
    renew: (rule, key, id) => through(() => inner.renew(rule, key, id)),
    entries: (rule, key) => through(() => inner.entries(rule, key)),
    block: (rule, key, ms) => through(() => inner.block(rule, key, ms)),
    unblock: (rule, key) => through(() => inner.unblock(rule, key)),
    reset: (rule, key) => through(() => inner.reset(rule, key)),
    ping: () => {
      control.pinged++
      return through(() => inner.ping())
    },
    close: () => inner.close(),
    ...(instances !== undefined && { heartbeat: () => through(async () => instances) }),
  }
  const events: [string, unknown][] = []
  const observer: Observer = {
    fallback: (event) => events.push(['fallback', event]),
    lateReply: (event) => events.push(['lateReply', event]),
    breakerChange: ({ from, to }) => events.push(['breaker', `${from} ${to}`]),
    storeError: ({ operation }) => events.push(['storeError', operation]),
  }
  const guarded = guard(store, { observer, ...options })
  const release = () => {
    for (const answer of kept.splice(0)) answer()
  }
  return { control, guarded, inner, events, release }
}

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'performance', 'Date'],
  })
})
afterEach(() => {
  vi.useRealTimers()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('a store that does not answer', () => {
  test('holds a decision up for the deadline and no longer; its late answer is dropped and counted', async () => {
    const { control, guarded, events, release } = remote({ deadlineMs: 20 })
    const limiter = createLimiter({ name: 'l', limit: 5, window: '1h', store: guarded })
    control.mood = 'silent'
    let decided: unknown
    void limiter.limit('k').then((decision) => {
      decided = decision
    })
    const until = monotonicClock() + 20
    await pass(19)
    expect(decided).toBeUndefined()
    await pass(2)
    expect(decided).toMatchObject({ allowed: true, used: 1, limit: 5, source: 'local', reason: 'ok' })
    expect(control.untils).toEqual([until])
    release()
    await pass(0)
    expect(guarded.guardState()).toMatchObject({
      breaker: 'closed',
      fallbacks: { deadline: 1, breaker: 0 },
      lateReplies: 1,
      waiting: 0,
    })
    expect(events).toEqual([
      ['storeError', 'decide'],
      ['fallback', { cause: 'deadline', allowed: true, rules: [{ rule: 'l', policy: 'local', allowed: true }] }],
      ['lateReply', { lateMs: expect.any(Number) }],
    ])
    // In the store it counts, where it was made after all: that errs to refusing.
    control.mood = 'well'
    expect(await limiter.limit('k')).toMatchObject({ used: 2, source: 'store' })
  })

  test('is not asked any more after some failures, nobody waits, and one probe at a time finds that it is back', async () => {
    const { control, guarded, events, release } = remote({ breaker: { failures: 3, backoffMs: 100 } })
    const limiter = createLimiter({ name: 'l', limit: 100, window: '1h', store: guarded })
    control.mood = 'silent'
    const waiting = Promise.all([1, 2, 3].map(() => limiter.limit('k')))
    await pass(21)
    await waiting
    expect([control.asked, guarded.guardState().breaker]).toEqual([3, 'open'])
    for (let i = 0; i < 10; i++) expect((await limiter.limit('k')).source).toBe('local')
    expect([control.asked, control.pinged]).toEqual([3, 0])
    await pass(100)
    for (let i = 0; i < 10; i++) await limiter.limit('k')
    expect([control.asked, control.pinged]).toEqual([3, 1])
    control.mood = 'well'
    release()
    await pass(0)
    // Two at once: one asks the store in earnest, the other is decided here.
    const sources = (await Promise.all([limiter.limit('k'), limiter.limit('k')])).map(({ source }) => source)
    expect(sources).toEqual(['store', 'local'])
    expect((await limiter.limit('k')).source).toBe('store')
    expect(events.filter(([name]) => name === 'breaker').map(([, change]) => change)).toEqual([
      'closed open',
      'open half-open',
      'half-open closed',
    ])
  })

  test('that is down from the start is worked without, and used when it comes', async () => {
    const { control, guarded } = remote({ breaker: { failures: 1 } })
    control.mood = 'failing'
    const limiter = createLimiter({ name: 'l', limit: 2, window: '1h', store: guarded })
    const seen = []
    for (let i = 0; i < 3; i++) seen.push((await limiter.limit('k')).allowed)
    expect(seen).toEqual([true, true, false])
    control.mood = 'well'
    await pass(3000)
    await limiter.limit('k')
    await pass(0)
    expect(await limiter.limit('k')).toMatchObject({ source: 'store', used: 1 })
  })

  test('is said to be well by a ping, whatever the pause', async () => {
    const { control, guarded } = remote({ breaker: { failures: 1 } })
    const limiter = createLimiter({ name: 'l', limit: 2, window: '1h', store: guarded })
    control.mood = 'failing'
    await limiter.limit('k')
    await expect(guarded.ping()).rejects.toThrow('gone')
    expect(guarded.guardState().breaker).toBe('open')
    control.mood = 'well'
    await guarded.ping()
    expect((await limiter.limit('k')).source).toBe('store')
  })
})

describe('the rules of one request', () => {
  const rule = (name: string, onStoreFailure?: 'deny' | 'allow' | 'local', limit = 2) => {
    return { name, key: ['user'], limit, window: '1h', ...(onStoreFailure && { onStoreFailure }) }
  }
  const sums = (rules: readonly RuleDecision[]) => rules.map(({ allowed, used, reason }) => [allowed, used, reason])

  async function without(...rules: ReturnType<typeof rule>[]) {
    const { control, guarded } = remote()
    control.mood = 'failing'
    const gate = createGate({ rules, store: guarded })
    return { gate, ask: (cost = 1) => gate.limit({ user: 'u' }, { cost }) }
  }

  test('each by its policy: allowed ones pass, local ones are counted together, all or none', async () => {
    const { ask } = await without(rule('news', 'allow'), rule('minute', 'local', 3), rule('hour'))
    const first = await ask(2)
    expect([first.allowed, first.source, sums(first.rules)]).toEqual([
      true,
      'local',
      [
        [true, 0, 'store_unavailable'],
        [true, 2, 'ok'],
        [true, 2, 'ok'],
      ],
    ])
    const second = await ask()
    expect([second.allowed, second.rule, sums(second.rules)]).toEqual([
      false,
      'hour',
      [
        [true, 0, 'store_unavailable'],
        [true, 2, 'ok'],
        [false, 2, 'over_limit'],
      ],
    ])
  })

  test('one that denies refuses the request, and the others are charged nothing', async () => {
    const { ask } = await without(rule('minute', 'local', 3), rule('payment', 'deny'))
    for (let i = 0; i < 3; i++) {
      const { allowed, rule: decider, rules, retryAfterMs, reason } = await ask()
      expect([allowed, decider, reason, retryAfterMs, sums(rules)]).toEqual([
        false,
        'payment',
        'store_unavailable',
        1000,
        [
          [true, 0, 'ok'],
          [false, 0, 'store_unavailable'],
        ],
      ])
    }
  })

  test('one in shadow that denies refuses nobody', async () => {
    const { control, guarded } = remote()
    control.mood = 'failing'
    const rules = [rule('minute'), { ...rule('tried', 'deny'), shadow: true }]
    const gate = createGate({ rules, store: guarded })
    expect(await gate.limit({ user: 'u' })).toMatchObject({ allowed: true, rule: 'minute', used: 1 })
  })

  test('what says nothing takes the policy of the gate, also after a change of rules', async () => {
    const { control, guarded } = remote()
    control.mood = 'failing'
    const rules = [
      { name: 'a', limit: 1 },
      { name: 'b', limit: 1, onStoreFailure: 'local' as const },
    ]
    const windowed = rules.map((one) => ({ ...one, window: '1h' }))
    const gate = createGate({ rules: windowed, store: guarded, onStoreFailure: 'deny' })
    expect((await gate.limit({})).rule).toBe('a')
    gate.update([
      { ...windowed[1], name: 'b' },
      { name: 'c', limit: 1, window: '1h' },
    ] as never)
    expect((await gate.limit({})).rule).toBe('c')
  })

  test('a policy that does not exist is refused', () => {
    const options = { limit: 1, window: '1s', onStoreFailure: 'open' }
    expect(() => createLimiter(options as never)).toThrow('onStoreFailure: expected one of deny, allow, local')
    const rules = [{ name: 'a', ...options }]
    expect(() => createGate({ rules: rules as never })).toThrow('rules[0].onStoreFailure: expected one of')
  })
})

describe('the share of a limit', () => {
  test('is by the instances that the store has seen, and the last known number stands', async () => {
    const { control, guarded } = remote({}, 4)
    const limiter = createLimiter({ name: 'l', limit: 10, window: '1h', store: guarded })
    await limiter.limit('other')
    await pass(0)
    expect(guarded.guardState().instances).toBe(4)
    control.mood = 'failing'
    await pass(20_000)
    const seen = []
    for (let i = 0; i < 3; i++) seen.push(await limiter.limit('k'))
    expect(seen.map(({ allowed, limit }) => [allowed, limit])).toEqual([
      [true, 2],
      [true, 2],
      [false, 2],
    ])
  })

  test('is by the number that was given', async () => {
    const { control, guarded } = remote({ instances: 100 }, 4)
    control.mood = 'failing'
    const limiter = createLimiter({ name: 'l', limit: 10, window: '1h', store: guarded })
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, limit: 1 })
    expect(await limiter.limit('k')).toMatchObject({ allowed: false, limit: 1 })
  })
})

describe('what was admitted here', () => {
  test('is given back here, and a lease is renewed and released here, also when the store is back', async () => {
    const { control, guarded } = remote({ breaker: { failures: 1000 } })
    const limiter = createLimiter({ name: 'c', limit: 1, window: '1h', algorithm: 'concurrency', store: guarded })
    control.mood = 'failing'
    const lease = await limiter.limit('k', { id: 'lease' })
    expect([lease.source, (await limiter.limit('k', { id: 'two' })).allowed]).toEqual(['local', false])
    control.mood = 'well'
    expect(await limiter.renew('k', 'lease')).toBe(true)
    expect(await limiter.release('k', 'lease')).toBe(true)
    control.mood = 'failing'
    expect((await limiter.limit('k', { id: 'two' })).allowed).toBe(true)

    const log = createLimiter({ name: 's', limit: 1, window: '1h', store: guarded })
    const decision = await log.limit('k')
    control.mood = 'well'
    expect((await log.limit('k')).source).toBe('store')
    expect(await log.refund('k', { decision })).toBe(1)
    expect(await log.peek('k', { cost: 0 })).toMatchObject({ used: 1, source: 'store' })
  })

  test('what is reserved here is settled here, also when the store is back; what it reserved, there', async () => {
    const { control, guarded } = remote({ breaker: { failures: 1000 } })
    const limiter = createLimiter({ name: 's', limit: 10, window: '1h', store: guarded })
    await limiter.reserve('k', { cost: 5, id: 'there' })
    control.mood = 'failing'
    const reserved = await limiter.reserve('k', { cost: 8, id: 'here' })
    expect(reserved).toMatchObject({ allowed: true, source: 'local', id: 'here' })
    expect(await limiter.reserve('k', { cost: 8, id: 'more' })).toMatchObject({ allowed: false, id: null })
    control.mood = 'well'
    expect(await limiter.settle('k', 'here', { cost: 1 })).toEqual({ settled: true, charged: 0, refunded: 7 })
    expect(await limiter.settle('k', 'there', { cost: 6 })).toEqual({ settled: true, charged: 1, refunded: 0 })
    expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ used: 6, source: 'store' })
    control.mood = 'failing'
    expect(await limiter.peek('k', { cost: 0 })).toMatchObject({ used: 1, source: 'local' })
  })

  test('a reservation is refused by a rule that denies, and nothing is held', async () => {
    const { control, guarded } = remote()
    control.mood = 'failing'
    const rules = [
      { name: 'a', limit: 10, window: '1h' },
      { name: 'b', limit: 10, window: '1h', onStoreFailure: 'deny' as const },
    ]
    const gate = createGate({ rules, store: guarded })
    expect(await gate.reserve({}, { cost: 5, id: 'r' })).toMatchObject({ allowed: false, rule: 'b', id: null })
    expect((await gate.limit({})).rules[0]).toMatchObject({ used: 0 })
  })

  test('a key that was blocked through this process stays blocked', async () => {
    const { control, guarded } = remote()
    const limiter = createLimiter({ name: 's', limit: 5, window: '1h', store: guarded })
    await limiter.block('k', '1h')
    control.mood = 'failing'
    expect(await limiter.limit('k')).toMatchObject({ allowed: false, reason: 'blocked', source: 'local' })
    control.mood = 'well'
    await limiter.unblock('k')
    control.mood = 'failing'
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, source: 'local' })
  })
})

describe('an error', () => {
  test('of the request alone stays one, and says nothing against the store', async () => {
    const { control, guarded, inner } = remote({ breaker: { failures: 1 } })
    const limiter = createLimiter({ name: 's', limit: 5, window: '1h', store: guarded })
    control.mood = 'full'
    for (let i = 0; i < 5; i++) expect((await limiter.limit('k')).source).toBe('local')
    expect(guarded.guardState()).toMatchObject({ breaker: 'closed', fallbacks: { error: 5 } })
    control.mood = 'well'
    await inner.close()
    await expect(limiter.limit('k')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(guarded.guardState().breaker).toBe('closed')
  })

  test('that nobody foresaw is one of the store', async () => {
    const { control, guarded } = remote()
    control.mood = 'odd'
    const limiter = createLimiter({ name: 's', limit: 5, window: '1h', store: guarded, onStoreFailure: 'allow' })
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, reason: 'store_unavailable', remaining: 5 })
  })

  test('of another operation comes after a second at most, and at once where the store is not asked', async () => {
    const { control, guarded } = remote({ breaker: { failures: 1 } })
    const limiter = createLimiter({ name: 's', limit: 5, window: '1h', store: guarded })
    control.mood = 'silent'
    const outcome = limiter.reset('k').catch((error) => error)
    await pass(1001)
    expect(await outcome).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message: expect.stringContaining('1000 ms') })
    const decided = limiter.limit('k')
    await pass(21)
    await decided
    await expect(limiter.reset('k')).rejects.toThrow('its breaker is open')
  })
})

test('whoever waits in acquire is admitted here when the store is away', async () => {
  const { control, guarded } = remote()
  const limiter = createLimiter({ name: 's', limit: 1, window: 500, store: guarded })
  control.mood = 'failing'
  await limiter.limit('k')
  const admitted = limiter.acquire('k')
  await pass(600)
  expect(await admitted).toMatchObject({ allowed: true, source: 'local' })
})

test.each([
  [{ deadlineMs: 0 }, 'deadlineMs: expected a whole number from 1 to 60,000'],
  [{ instances: 0 }, 'instances: expected a whole number from 1'],
  [{ breaker: { share: 0 } }, 'breaker.share: expected a number above 0 to 1'],
  [{ breaker: { maxBackoffMs: 0 } }, 'breaker.maxBackoffMs: expected a whole number from 1'],
  [{ breaker: { Failures: 1 } }, 'breaker.Failures: unknown option'],
  [{ deadline: 5 }, 'deadline: unknown option'],
])('the options %j are refused', (options, message) => {
  expect(() => guard(memoryStore(), options as GuardOptions)).toThrow(message)
})

describe('a guarded store that is closed', () => {
  test('while requests wait ends each of them, and leaves no timer', async () => {
    const { guarded, control } = remote({ instances: undefined as never }, 3)
    const limiter = createLimiter({ name: 'r', limit: 5, window: '1h', store: guarded })
    control.mood = 'silent'
    const waiting = Promise.allSettled(Array.from({ length: 50 }, () => limiter.limit('k')))
    const closing = guarded.close()
    await vi.advanceTimersByTimeAsync(2_000)
    await closing
    expect((await waiting).length).toBe(50)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('before it was used begins nothing when it is asked after all', async () => {
    const { guarded, control } = remote({}, 3)
    const limiter = createLimiter({ name: 'r', limit: 5, window: '1h', store: guarded })
    await guarded.close()
    await limiter.limit('k').catch(() => undefined)
    await vi.advanceTimersByTimeAsync(60_000)
    expect([vi.getTimerCount(), control.asked]).toEqual([0, 1])
  })
})

test('a store that flaps is asked again each time, and every request has one answer', async () => {
  const { guarded, control, events } = remote({ breaker: { failures: 2, backoffMs: 1, maxBackoffMs: 1 } })
  const limiter = createLimiter({ name: 'r', limit: 4_000_000_000, window: '1h', store: guarded })
  let answers = 0
  for (let i = 0; i < 400; i++) {
    control.mood = i % 8 < 4 ? 'failing' : 'well'
    const { allowed } = await limiter.limit('k')
    if (allowed) answers++
    await vi.advanceTimersByTimeAsync(2)
  }
  expect(answers).toBe(400)
  const changes = events.filter(([name]) => name === 'breaker').map(([, change]) => change)
  expect(changes.length).toBeGreaterThan(50)
  // Each begins where the one before has ended.
  const ends = changes.map((change) => String(change).split(' '))
  for (const [i, [from]] of ends.entries()) expect(from).toBe(i === 0 ? 'closed' : ends[i - 1]?.[1])
  await guarded.close()
})
