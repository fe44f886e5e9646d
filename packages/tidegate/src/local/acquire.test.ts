import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Decision } from '../decision.ts'
import { createGate } from '../gate.ts'
import { createLimiter } from '../limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { AcquireOptions } from './acquire.ts'

// Virtual time: Date, performance and setTimeout move together, from 0.
beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

/** How one waiter fared, and when. */
interface Settled {
  readonly name: string | number
  readonly outcome: 'admitted' | 'refused' | unknown
  readonly at: number
}

/** Notes how each promise ends, in the order in which they do. */
function recorder() {
  const settled: Settled[] = []
  const note = (name: string | number, outcome: unknown) => settled.push({ name, outcome, at: Date.now() })
  return {
    settled,
    watch: (name: string | number, promise: Promise<Decision>) =>
      void promise.then(
        ({ allowed }) => note(name, allowed ? 'admitted' : 'refused'),
        (error) => note(name, error),
      ),
  }
}

const RULE = { limit: 10, window: 100 }
const PATIENT = { timeoutMs: 3_600_000 }

describe('1,000 waiters on one key, 10 per 100 ms', () => {
  test('get through in order, spaced as the rule says, none starves', async () => {
    const limiter = createLimiter(RULE)
    const { settled, watch } = recorder()
    for (let i = 0; i < 1000; i++) watch(i, limiter.acquire('k', PATIENT))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(settled).toEqual(
      Array.from({ length: 1000 }, (_, i) => ({ name: i, outcome: 'admitted', at: Math.floor(i / 10) * 100 })),
    )
    expect(vi.getTimerCount()).toBe(0)
  })

  test('half of them aborted: the others are as if those had never been there', async () => {
    const limiter = createLimiter(RULE)
    const { settled, watch } = recorder()
    const reason = new Error('no longer wanted')
    // A fixed pattern without rhythm: a linear congruential generator.
    let seed = 7
    const isAborted = Array.from({ length: 1000 }, () => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31
      return seed > 2 ** 30
    })
    const survivors: number[] = []
    const controllers = isAborted.map((aborted, i) => {
      const controller = new AbortController()
      if (!aborted) survivors.push(i)
      watch(i, limiter.acquire('k', { ...PATIENT, signal: controller.signal }))
      return controller
    })
    // In the same turn, when the first of them have been charged or are being so.
    for (const [i, aborted] of isAborted.entries()) if (aborted) controllers[i]?.abort(reason)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(settled.filter(({ outcome }) => outcome === 'admitted')).toEqual(
      survivors.map((name, i) => ({ name, outcome: 'admitted', at: Math.floor(i / 10) * 100 })),
    )
    const aborted = settled.filter(({ outcome }) => outcome !== 'admitted')
    expect(aborted).toHaveLength(1000 - survivors.length)
    expect(new Set(aborted.map(({ outcome }) => outcome))).toEqual(new Set([reason]))
    expect(aborted.every(({ at }) => at === 0)).toBe(true)
  })

  test('aborted one by one on the way, in whatever place they have', async () => {
    const limiter = createLimiter(RULE)
    const { settled, watch } = recorder()
    const controllers = Array.from({ length: 1000 }, (_, i) => {
      const controller = new AbortController()
      watch(i, limiter.acquire('k', { ...PATIENT, signal: controller.signal }))
      return controller
    })
    // At 150 ms the first 20 are through: of the others all with an odd number go, the sleeping head among them or not.
    await vi.advanceTimersByTimeAsync(150)
    for (const [i, controller] of controllers.entries()) if (i % 2 === 1) controller.abort()
    await vi.advanceTimersByTimeAsync(20_000)
    const late = settled.filter(({ outcome, at }) => outcome === 'admitted' && at > 150)
    expect(late).toEqual(
      Array.from({ length: 490 }, (_, i) => ({
        name: 20 + i * 2,
        outcome: 'admitted',
        at: 200 + Math.floor(i / 10) * 100,
      })),
    )
  })
})

test('a costly waiter is not passed by cheap ones that came later', async () => {
  const limiter = createLimiter(RULE)
  const { settled, watch } = recorder()
  for (const [i, cost] of [6, 10, 1, 1, 9].entries()) watch(i, limiter.acquire('k', { cost }))
  await vi.advanceTimersByTimeAsync(1000)
  expect(settled.map(({ name, at }) => [name, at])).toEqual([
    [0, 0],
    [1, 100],
    [2, 200],
    [3, 200],
    [4, 300],
  ])
})

test('keys do not delay each other', async () => {
  const limiter = createLimiter({ limit: 1, window: 100 })
  const { settled, watch } = recorder()
  for (const name of ['a1', 'a2', 'b1', 'b2']) watch(name, limiter.acquire(name.charAt(0)))
  await vi.advanceTimersByTimeAsync(1000)
  expect(settled.map(({ name, at }) => `${name} ${at}`).sort()).toEqual(['a1 0', 'a2 100', 'b1 0', 'b2 100'])
})

describe('a gate', () => {
  const rules = [
    { name: 'user', key: ['user'], limit: 2, window: 100 },
    { name: 'all', limit: 3, window: 1000 },
  ]

  test('waits for all of its rules, and charges all or none', async () => {
    const gate = createGate({ rules })
    const { settled, watch } = recorder()
    for (let i = 0; i < 4; i++) watch(i, gate.acquire({ user: 'u' }))
    await vi.advanceTimersByTimeAsync(5000)
    expect(settled.map(({ name, at }) => [name, at])).toEqual([
      [0, 0],
      [1, 0],
      [2, 100],
      [3, 1000],
    ])
  })

  test('requests with other counters stand in lines of their own', async () => {
    const gate = createGate({ rules })
    const { settled, watch } = recorder()
    for (const name of ['a1', 'a2', 'a3', 'b1']) watch(name, gate.acquire({ user: name.charAt(0) }))
    await vi.advanceTimersByTimeAsync(50)
    expect(settled.map(({ name }) => name)).toEqual(['a1', 'b1', 'a2'])
  })

  test('a request that no rule matches does not wait; a skipped rule is counted once, however often it is asked', async () => {
    const gate = createGate({ rules: [{ name: 'user', key: ['user'], limit: 1, window: 100 }, ...rules.slice(1)] })
    expect(await createGate({ rules: rules.slice(0, 1) }).acquire({})).toMatchObject({ reason: 'no_rule' })
    const { watch } = recorder()
    for (let i = 0; i < 6; i++) watch(i, gate.acquire({}))
    await vi.advanceTimersByTimeAsync(5000)
    expect(gate.skipped().get('user')).toBe(6)
  })
})

describe('a deadline', () => {
  test('that the wait of the head itself would pass: refused at once', async () => {
    const limiter = createLimiter({ limit: 1, window: 100 })
    await limiter.limit('k')
    const decision = await limiter.acquire('k', { timeoutMs: 100 })
    expect(decision).toMatchObject({ allowed: false, reason: 'over_limit', retryAfterMs: 100, at: 0 })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('that comes while others stand before it: refused then, not earlier, and without a charge', async () => {
    const limiter = createLimiter({ limit: 1, window: 100 })
    const { settled, watch } = recorder()
    for (const [i, timeoutMs] of [500, 500, 500, 150, 500].entries()) watch(i, limiter.acquire('k', { timeoutMs }))
    await vi.advanceTimersByTimeAsync(149)
    expect(settled.map(({ name }) => name)).toEqual([0, 1])
    await vi.advanceTimersByTimeAsync(1000)
    expect(settled.slice(2)).toEqual([
      { name: 3, outcome: 'refused', at: 150 },
      { name: 2, outcome: 'admitted', at: 200 },
      { name: 4, outcome: 'admitted', at: 300 },
    ])
  })

  test('that even the first in line could not keep: refused at once, wherever it stands', async () => {
    const limiter = createLimiter({ limit: 1, window: 100 })
    const { settled, watch } = recorder()
    for (const [i, timeoutMs] of [500, 500, 60].entries()) watch(i, limiter.acquire('k', { timeoutMs }))
    await vi.advanceTimersByTimeAsync(0)
    expect(settled.map(({ name, outcome }) => [name, outcome])).toEqual([
      [0, 'admitted'],
      [2, 'refused'],
    ])
  })

  test('is 30 s where none is given, and can be further away than one timer reaches', async () => {
    const limiter = createLimiter({ limit: 1, window: '60d' })
    await limiter.limit('k')
    expect(await limiter.acquire('k')).toMatchObject({ allowed: false })
    const { settled, watch } = recorder()
    watch('long', limiter.acquire('k', { timeoutMs: 61 * 86_400_000 }))
    await vi.advanceTimersByTimeAsync(60 * 86_400_000 - 1)
    expect(settled).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(settled).toEqual([{ name: 'long', outcome: 'admitted', at: 60 * 86_400_000 }])
  })
})

describe('never', () => {
  test('a cost above the limit is refused at once, alone or behind others', async () => {
    const limiter = createLimiter({ limit: 1, window: 100 })
    expect(await limiter.acquire('k', { cost: 2 })).toMatchObject({ reason: 'cost_exceeds_limit', retryAfterMs: null })
    const { settled, watch } = recorder()
    for (const [i, cost] of [1, 1, 2, 1].entries()) watch(i, limiter.acquire('k', { cost }))
    await vi.advanceTimersByTimeAsync(50)
    watch('later', limiter.acquire('k', { cost: 2 }))
    await vi.advanceTimersByTimeAsync(1000)
    expect(settled.map(({ name, outcome, at }) => `${name} ${outcome} ${at}`)).toEqual([
      '0 admitted 0',
      '2 refused 0',
      'later refused 50',
      '1 admitted 100',
      '3 admitted 200',
    ])
  })

  test('a key that is blocked for ever, and a quota that is used up', async () => {
    const limiter = createLimiter({ limit: 1, window: 100 })
    await limiter.limit('k')
    const { settled, watch } = recorder()
    watch('before', limiter.acquire('k'))
    await vi.advanceTimersByTimeAsync(10)
    await limiter.block('k', 'forever')
    watch('after', limiter.acquire('k'))
    await vi.advanceTimersByTimeAsync(100)
    expect(settled).toEqual([
      { name: 'after', outcome: 'refused', at: 10 },
      { name: 'before', outcome: 'refused', at: 100 },
    ])
    const quota = createLimiter({ limit: 2, algorithm: 'quota' })
    const used = await Promise.all([1, 2, 3, 4].map(() => quota.acquire('k')))
    expect(used.map(({ allowed }) => allowed)).toEqual([true, true, false, false])
  })
})

describe('something given back lets the first in line ask again', () => {
  test('by a refund, an unblock or a reset of a limiter', async () => {
    const limiter = createLimiter({ limit: 1, window: 10_000 })
    await limiter.limit('k')
    await limiter.block('b', '10s')
    const { settled, watch } = recorder()
    watch('refund', limiter.acquire('k'))
    watch('unblock', limiter.acquire('b'))
    watch('reset', limiter.acquire('k'))
    await vi.advanceTimersByTimeAsync(5)
    await limiter.refund('k')
    await vi.advanceTimersByTimeAsync(5)
    await limiter.unblock('b')
    await vi.advanceTimersByTimeAsync(5)
    await limiter.reset('k')
    await vi.advanceTimersByTimeAsync(5)
    expect(settled.map(({ name, at }) => [name, at])).toEqual([
      ['refund', 5],
      ['unblock', 10],
      ['reset', 15],
    ])
  })

  test('by the same of a gate, also to a request that has only that counter in common', async () => {
    const rules = [
      { name: 'user', key: ['user'], limit: 5, window: 100 },
      { name: 'all', limit: 1, window: 10_000 },
    ]
    const gate = createGate({ rules })
    const decision = await gate.limit({ user: 'a' })
    const { settled, watch } = recorder()
    watch('refund', gate.acquire({ user: 'b' }))
    await vi.advanceTimersByTimeAsync(5)
    await gate.refund({ user: 'a' }, { decision })
    watch('reset', gate.acquire({ user: 'c' }))
    await vi.advanceTimersByTimeAsync(5)
    await gate.reset({ user: 'd' })
    await vi.advanceTimersByTimeAsync(5)
    await gate.block({}, '10s')
    watch('unblock', gate.acquire({}))
    await vi.advanceTimersByTimeAsync(5)
    await gate.reset({})
    await gate.unblock({})
    await vi.advanceTimersByTimeAsync(5)
    expect(settled.map(({ name, at }) => [name, at])).toEqual([
      ['refund', 5],
      ['reset', 10],
      ['unblock', 20],
    ])
  })
})

describe('the end', () => {
  test('close rejects those who wait, and leaves no timer', async () => {
    const store = memoryStore()
    const limiter = createLimiter({ name: 'r', limit: 1, window: 100, store })
    const gate = createGate({ rules: [{ name: 'g', limit: 1, window: 100 }], store })
    const { settled, watch } = recorder()
    for (let i = 0; i < 3; i++) watch(i, limiter.acquire('k'))
    for (let i = 0; i < 3; i++) watch(i, gate.acquire({}))
    await vi.advanceTimersByTimeAsync(0)
    await Promise.all([limiter.close(), gate.close()])
    await vi.advanceTimersByTimeAsync(0)
    expect(settled.slice(2).map(({ outcome }) => (outcome as { code: string }).code)).toEqual(
      Array(4).fill('ERR_CLOSED'),
    )
    expect(vi.getTimerCount()).toBe(0)
    await expect(limiter.acquire('k')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await expect(gate.acquire({})).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  test('maxWaiting bounds all keys together; a place that becomes free can be taken', async () => {
    const limiter = createLimiter({ limit: 1, window: 100, maxWaiting: 2 })
    await Promise.all(['a', 'b', 'c'].map((key) => limiter.limit(key)))
    const { settled, watch } = recorder()
    watch('a', limiter.acquire('a'))
    watch('b', limiter.acquire('b'))
    await expect(limiter.acquire('c')).rejects.toMatchObject({ code: 'ERR_TOO_MANY_WAITING' })
    await vi.advanceTimersByTimeAsync(100)
    watch('c', limiter.acquire('c'))
    await vi.advanceTimersByTimeAsync(100)
    expect(settled.map(({ name, at }) => [name, at])).toEqual([
      ['a', 100],
      ['b', 100],
      ['c', 100],
    ])
  })
})

describe('options', () => {
  const limiter = createLimiter({ limit: 1, window: 100 })
  const gate = createGate({ rules: [] })
  const wrong: [string, string, object][] = [
    ['timeoutMs', 'ERR_INVALID_OPTION', { timeoutMs: 0 }],
    ['timeoutMs', 'ERR_INVALID_OPTION', { timeoutMs: 1.5 }],
    ['timeoutMs', 'ERR_INVALID_OPTION', { timeoutMs: Number.POSITIVE_INFINITY }],
    ['timeoutMs', 'ERR_INVALID_OPTION', { timeoutMs: '1s' }],
    ['signal', 'ERR_INVALID_OPTION', { signal: {} }],
    ['signal', 'ERR_INVALID_OPTION', { signal: null }],
    ['timeout', 'ERR_UNKNOWN_OPTION', { timeout: 5 }],
    ['cost', 'ERR_INVALID_COST', { cost: -1 }],
    ['id', 'ERR_INVALID_OPTION', { id: '' }],
  ]

  test.each(wrong)('%s: %s', async (field, code, options) => {
    await expect(limiter.acquire('k', options as AcquireOptions)).rejects.toMatchObject({ code, field })
    await expect(gate.acquire({}, options as AcquireOptions)).rejects.toMatchObject({ code, field })
  })

  test.each([0, 1_000_001, 1.5, '5'])('maxWaiting: %s', (maxWaiting) => {
    const error = expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: 'maxWaiting' })
    expect(() => createLimiter({ limit: 1, window: 1, maxWaiting } as never)).toThrow(error)
    expect(() => createGate({ rules: [], maxWaiting } as never)).toThrow(error)
  })

  test('a signal that is aborted already: rejected before the store is asked', async () => {
    const reason = new Error('gone')
    await expect(limiter.acquire('k', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(limiter.peekSync('k', { cost: 0 }).used).toBe(0)
  })

  test('one signal for a thousand waiters has one listener, and in the end none; nobody is warned', async () => {
    const { settled, watch } = recorder()
    const warned: string[] = []
    const listener = ({ name }: Error) => void warned.push(name)
    process.on('warning', listener)
    const controller = new AbortController()
    for (let i = 0; i < 1000; i++) watch(i, limiter.acquire('many', { signal: controller.signal }))
    await vi.advanceTimersByTimeAsync(0)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    controller.abort()
    await vi.advanceTimersByTimeAsync(10)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
    process.off('warning', listener)
    expect(settled).toHaveLength(1000)
    // The first had got through before.
    expect(limiter.peekSync('many', { cost: 0 }).used).toBe(1)
    expect(warned).toEqual([])
  })
})
