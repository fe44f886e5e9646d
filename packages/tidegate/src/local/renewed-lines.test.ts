import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createGate } from '../gate.ts'
import type { RuleOptions } from '../rule.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'

// Timers and clocks go by virtual time; the rounds of the event loop are real.
beforeEach(() => void vi.useFakeTimers({ now: 0, toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }))
afterEach(() => void vi.useRealTimers())

const HOUR = 3_600_000
const rule = (fields: Partial<RuleOptions> = {}): RuleOptions => {
  return { name: 'r', key: ['user'], limit: 1, window: HOUR, ...fields }
}

/** A gate whose store answers when the test says so, if it is held. */
function open(...rules: RuleOptions[]) {
  const store = memoryStore()
  const held: (() => void)[] = []
  const hold = { on: false }
  const decide = store.decide.bind(store)
  store.decide = async (checks, mode) => {
    if (hold.on) await new Promise<void>((resolve) => held.push(resolve))
    return decide(checks, mode)
  }
  const gate = createGate({ rules, store })
  const endings: string[] = []
  const acquire = (
    name: string,
    user = 'u',
    options: { cost?: number; timeoutMs?: number; signal?: AbortSignal } = {},
  ) =>
    void gate.acquire({ user, route: '/' }, { timeoutMs: HOUR * 10, ...options }).then(
      ({ allowed, rule, limit }) => endings.push(`${name} ${allowed ? 'admitted' : 'refused'} by ${rule} of ${limit}`),
      (error: Error) => endings.push(`${name} ${error.message}`),
    )
  const release = async () => {
    hold.on = false
    for (const answer of held.splice(0)) answer()
    await setImmediate()
  }
  return { gate, endings, acquire, hold, release }
}

describe('those who wait when the rules change', () => {
  test('a raised limit: admitted at once, as many as fit, in their order', async () => {
    const { gate, endings, acquire } = open(rule())
    for (const name of ['a', 'b', 'c', 'd']) acquire(name)
    await setImmediate()
    gate.update([rule({ limit: 3 })])
    // Whoever comes now stands behind those who were there.
    acquire('e')
    await setImmediate()
    expect(endings).toEqual(['a admitted by r of 1', 'b admitted by r of 3', 'c admitted by r of 3'])
    await vi.advanceTimersByTimeAsync(HOUR)
    expect(endings.slice(3)).toEqual(['d admitted by r of 3', 'e admitted by r of 3'])
  })

  test('a limit below the cost: refused at once, also behind the head', async () => {
    const { gate, endings, acquire } = open(rule({ limit: 2 }))
    acquire('a', 'u', { cost: 2 })
    acquire('b', 'u', { cost: 2 })
    acquire('c', 'u', { cost: 1 })
    await setImmediate()
    gate.update([rule({ limit: 1 })])
    await setImmediate()
    expect(endings.slice(1)).toEqual(['b refused by r of 1'])
  })

  test('a rule that is gone: admitted by those that are left, or by none', async () => {
    const { gate, endings, acquire } = open(rule(), rule({ name: 's', limit: 2 }))
    for (const name of ['a', 'b', 'c']) acquire(name)
    await setImmediate()
    gate.update([rule({ name: 's', limit: 2 })])
    await setImmediate()
    expect(endings.slice(1)).toEqual(['b admitted by s of 2'])
    gate.update([])
    await setImmediate()
    expect(endings.slice(2)).toEqual(['c admitted by null of 4294967295'])
  })

  test('another key: lines part, and lines join in the order in which their waiters came', async () => {
    const { gate, endings, acquire } = open(rule())
    const waiters = Object.entries({ a: 'u', b: 'v', c: 'u', d: 'v' })
    for (const [, user] of waiters.slice(0, 2)) gate.limitSync({ user })
    for (const [name, user] of waiters) acquire(name, user)
    await setImmediate()
    gate.update([rule({ key: [], window: 1000 })])
    await vi.advanceTimersByTimeAsync(3000)
    expect(endings.map((ending) => ending.charAt(0))).toEqual(['a', 'b', 'c', 'd'])
  })

  test('an admission on its way counts, by the rules it was asked under, and once', async () => {
    const { gate, endings, acquire, hold, release } = open(rule({ limit: 5 }))
    hold.on = true
    acquire('a')
    acquire('b')
    await setImmediate()
    gate.update([rule({ limit: 1 })])
    await release()
    expect(endings).toEqual(['a admitted by r of 5'])
    expect(gate.peekSync({ user: 'u' }, { cost: 0 }).used).toBe(1)
    await vi.advanceTimersByTimeAsync(HOUR)
    expect(endings.slice(1)).toEqual(['b admitted by r of 1'])
  })

  test('a refusal on its way is none by rules that would admit', async () => {
    const { gate, endings, acquire, hold, release } = open(rule({ limit: 0 }))
    hold.on = true
    acquire('a')
    await setImmediate()
    gate.update([rule({ limit: 4 })])
    gate.update([rule({ limit: 1 })])
    await release()
    expect(endings).toEqual(['a admitted by r of 1'])
    expect(gate.peekSync({ user: 'u' }, { cost: 0 }).used).toBe(1)
  })

  test('a refusal for ever that is on its way to one behind the head is none by rules that would admit', async () => {
    const { gate, endings, acquire, hold, release } = open(rule())
    gate.limitSync({ user: 'u' })
    acquire('a')
    await setImmediate()
    hold.on = true
    acquire('b', 'u', { cost: 2 })
    gate.update([rule({ limit: 4 })])
    await release()
    await setImmediate()
    expect(endings).toEqual(['a admitted by r of 4', 'b admitted by r of 4'])
  })

  test('an admission on its way for one who has gone since is given back', async () => {
    const { gate, endings, acquire, hold, release } = open(rule())
    const controller = new AbortController()
    hold.on = true
    acquire('a', 'u', { signal: controller.signal })
    acquire('b')
    await setImmediate()
    gate.update([rule({ limit: 1, description: 'other' })])
    controller.abort(new Error('gone'))
    await release()
    await setImmediate()
    expect(endings).toEqual(['a gone', 'b admitted by r of 1'])
    expect(gate.peekSync({ user: 'u' }, { cost: 0 }).used).toBe(1)
  })

  test('their deadline is what it was, and the answer what they were refused with', async () => {
    const { gate, endings, acquire, hold, release } = open(rule())
    gate.limitSync({ user: 'u' })
    acquire('a', 'u', { timeoutMs: HOUR + 10 })
    await setImmediate()
    hold.on = true
    gate.update([rule({ description: 'other' })])
    await vi.advanceTimersByTimeAsync(HOUR + 9)
    expect(endings).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(endings).toEqual(['a refused by r of 1'])
    await release()
    expect(gate.peekSync({ user: 'u' }, { cost: 0 }).used).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('their signal is what it was, and their places are free once they have gone', async () => {
    const gate = createGate({ rules: [rule()], maxWaiting: 2 })
    gate.limitSync({ user: 'u' })
    const controller = new AbortController()
    const options = { timeoutMs: 2 * HOUR, signal: controller.signal }
    const gone = Promise.allSettled([1, 2].map(() => gate.acquire({ user: 'u' }, options)))
    await setImmediate()
    gate.update([rule({ description: 'other' })])
    gate.update([rule(), rule({ name: 's', limit: 5 })])
    await setImmediate()
    // Both have kept their places, and no more than those.
    await expect(gate.acquire({ user: 'v' })).rejects.toMatchObject({ code: 'ERR_TOO_MANY_WAITING' })
    controller.abort(new Error('gone'))
    expect((await gone).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await setImmediate()
    expect(vi.getTimerCount()).toBe(0)
    const again = [1, 2].map(() => gate.acquire({ user: 'w' }, { timeoutMs: 2 * HOUR }))
    await vi.advanceTimersByTimeAsync(HOUR)
    expect((await Promise.all(again)).map(({ allowed }) => allowed)).toEqual([true, true])
  })

  test('hundreds of changes while a hundred wait: each is admitted once, in its order', async () => {
    const { gate, endings, acquire } = open(rule({ window: 100 }))
    for (let i = 0; i < 100; i++) acquire(String(i).padStart(2, '0'))
    for (let i = 0; i < 300; i++) {
      gate.update([rule({ window: 100, limit: 1 + (i % 3), ...(i % 7 === 0 && { key: [] }) })])
      await vi.advanceTimersByTimeAsync(i % 5)
    }
    await vi.advanceTimersByTimeAsync(10_000)
    const order = endings.map((ending) => ending.slice(0, 2))
    expect(order).toEqual([...order].sort())
    expect(order).toHaveLength(100)
  })

  // The kind of fault: what can never be admitted is asked for again every ms, until the deadline.
  test('a dimension that is required by now and that they lack: refused at once', async () => {
    const { gate, endings, acquire } = open(rule())
    for (const name of ['a', 'b', 'c']) acquire(name)
    await setImmediate()
    gate.update([rule({ limit: 5, key: ['user', 'tenant'], required: true })])
    for (let i = 0; i < 5; i++) await setImmediate()
    expect(endings).toEqual(['a admitted by r of 1', 'b refused by r of 5', 'c refused by r of 5'])
  })
})
