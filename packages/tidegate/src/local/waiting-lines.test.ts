import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Decision } from '../decision.ts'
import { createLimiter } from '../limiter.ts'
import type { Question } from './question.ts'
import { WaitingLines } from './waiting-lines.ts'

// Timers go by virtual time; the rounds of the event loop are real.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const figures = await createLimiter({ limit: 1, window: 1 }).limit('k')
const allowed: Decision = figures
const refused = (retryAfterMs: number | null): Decision => ({
  ...figures,
  allowed: false,
  reason: 'over_limit',
  retryAfterMs,
})

/** A store that answers when the test says so, and what it was asked. */
function open(maxWaiting = 100) {
  const lines = new WaitingLines(maxWaiting)
  const log: string[] = []
  const answers: { resolve: (decision: Decision) => void; reject: (error: unknown) => void }[] = []
  const givenBack: (() => void)[] = []
  const questionOf = (name: string, counters: string[]): Question => ({
    id: name,
    counters,
    leastWaitMs: ({ retryAfterMs }) => retryAfterMs ?? Number.POSITIVE_INFINITY,
    ask: (mode) => {
      log.push(`${name} ${mode}`)
      if (mode === 'peek') return Promise.resolve(refused(1))
      return new Promise((resolve, reject) => answers.push({ resolve, reject }))
    },
    giveBack: () => {
      log.push(`${name} given back`)
      return new Promise((resolve) => givenBack.push(resolve))
    },
  })
  const wait = (name: string, how: { timeoutMs?: number; signal?: AbortSignal; counters?: string[] } = {}) => {
    const { timeoutMs = 60_000, signal, counters = ['all'] } = how
    return lines.wait(questionOf(name, counters), { timeoutMs, signal })
  }
  /** Answers the oldest question. */
  const answer = async (decision: Decision) => {
    answers.shift()?.resolve(decision)
    await setImmediate()
  }
  const fail = async (error: unknown) => {
    answers.shift()?.reject(error)
    await setImmediate()
  }
  return { lines, log, wait, answer, fail, givenBack }
}

const activeTimers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

describe('whoever has gone while the store was asked spends nothing', () => {
  test('aborted: rejected at once; an admission is given back before the next asks', async () => {
    const { lines, log, wait, answer, givenBack } = open()
    const controller = new AbortController()
    const first = wait('first', { signal: controller.signal })
    const second = wait('second')
    controller.abort(new Error('gone'))
    await expect(first).rejects.toThrow('gone')
    expect(log).toEqual(['first consume'])
    await answer(allowed)
    expect(log).toEqual(['first consume', 'first given back'])
    givenBack[0]?.()
    await setImmediate()
    expect(log.slice(2)).toEqual(['second consume'])
    await answer(allowed)
    expect(await second).toBe(allowed)
    expect([lines.size, lines.waiting]).toEqual([0, 0])
  })

  test('refused in the meantime: there is nothing to give back', async () => {
    const { lines, log, wait, answer } = open()
    const controller = new AbortController()
    const first = wait('first', { signal: controller.signal })
    controller.abort()
    await expect(first).rejects.toMatchObject({ name: 'AbortError' })
    await answer(refused(50))
    expect(log).toEqual(['first consume'])
    expect([lines.size, lines.waiting]).toEqual([0, 0])
  })

  test('deadline over: the latest refusal of the line is the answer, under the id of its own', async () => {
    const { log, wait, answer, givenBack } = open()
    const first = wait('first', { timeoutMs: 50 })
    const second = wait('second', { timeoutMs: 50 })
    await answer(refused(1))
    expect(log).toEqual(['first consume', 'second peek'])
    await vi.advanceTimersByTimeAsync(50)
    // Both have ended while the second question of the first has no answer.
    expect(await first).toMatchObject({ allowed: false, id: 'first' })
    expect(await second).toMatchObject({ allowed: false, id: 'second' })
    expect(log.slice(2)).toEqual(['first consume'])
    await answer(allowed)
    expect(log.slice(3)).toEqual(['first given back'])
    givenBack[0]?.()
  })

  test('deadline over before the store has refused anything: it is the store that is missing', async () => {
    const { lines, log, wait, answer, givenBack } = open()
    const waiting = [wait('first', { timeoutMs: 20 }), wait('second', { timeoutMs: 20 })]
    const ended = Promise.allSettled(waiting)
    await vi.advanceTimersByTimeAsync(20)
    const code = 'ERR_STORE_UNAVAILABLE'
    expect(await ended).toMatchObject(Array(2).fill({ status: 'rejected', reason: { code } }))
    await answer(allowed)
    givenBack[0]?.()
    await setImmediate()
    expect(log).toEqual(['first consume', 'first given back'])
    expect([lines.size, lines.waiting]).toEqual([0, 0])
  })

  test('its place is free once its question has been answered', async () => {
    const { lines, wait, answer } = open(1)
    const controller = new AbortController()
    const first = wait('first', { signal: controller.signal })
    controller.abort()
    await expect(first).rejects.toThrow()
    await expect(wait('second')).rejects.toMatchObject({ code: 'ERR_TOO_MANY_WAITING' })
    await answer(refused(50))
    expect(lines.waiting).toBe(0)
    const third = wait('third')
    await answer(allowed)
    expect(await third).toBe(allowed)
  })
})

test('an error of the store is of that waiter alone', async () => {
  const { wait, answer, fail } = open()
  const first = wait('first')
  const second = wait('second')
  const failure = expect(first).rejects.toThrow('connection lost')
  await fail(new Error('connection lost'))
  await failure
  await answer(allowed)
  expect(await second).toBe(allowed)
})

test('the head that leaves while it sleeps makes way at once, without its timer', async () => {
  vi.useRealTimers()
  const timers = activeTimers()
  const { lines, log, wait, answer } = open()
  const controller = new AbortController()
  const first = wait('first', { signal: controller.signal })
  const second = wait('second')
  await answer(refused(30_000))
  expect(activeTimers()).toBe(timers + 3)
  controller.abort(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  await setImmediate()
  expect(log).toEqual(['first consume', 'second peek', 'second consume'])
  await answer(allowed)
  expect(await second).toBe(allowed)
  expect(activeTimers()).toBe(timers)
  expect([lines.size, lines.waiting]).toEqual([0, 0])
})

test('only the head asks, one question at a time, and refused by others again it waits again', async () => {
  const { log, wait, answer } = open()
  const all = ['a', 'b', 'c'].map((name) => wait(name))
  for (let round = 0; round < 3; round++) {
    await answer(refused(5))
    const asked = log.filter((entry) => entry.endsWith('consume')).length
    await vi.advanceTimersByTimeAsync(30)
    // Once, not as often as there was time for.
    expect(log.filter((entry) => entry.endsWith('consume'))).toHaveLength(asked + 1)
  }
  for (const one of all) {
    await answer(allowed)
    expect(await one).toBe(allowed)
  }
  const asked = log.filter((entry) => entry.endsWith('consume')).map((entry) => entry.charAt(0))
  expect(asked.join('')).toBe('aaaabc')
})

describe('something given back', () => {
  test('wakes the heads of all lines for that counter, and of no other', async () => {
    const { lines, log, wait, answer } = open()
    const all = [['x', 'all'], ['y', 'all'], ['z']].map((counters, i) => wait(`${i}`, { counters }))
    for (let i = 0; i < 3; i++) await answer(refused(30_000))
    log.length = 0
    lines.wake(['all'])
    await setImmediate()
    expect(log).toEqual(['0 consume', '1 consume'])
    lines.wake(['z'])
    await setImmediate()
    expect(log.slice(2)).toEqual(['2 consume'])
    for (let i = 0; i < 3; i++) await answer(allowed)
    expect(await Promise.all(all)).toHaveLength(3)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('while the head is asking: a refusal from before it is not waited out', async () => {
    const { lines, log, wait, answer } = open()
    const waiting = wait('a')
    lines.wake(['all'])
    await answer(refused(30_000))
    expect(log).toEqual(['a consume', 'a consume'])
    // Once: the second refusal is waited out.
    await answer(refused(30_000))
    expect(log).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(30_000)
    await answer(allowed)
    expect(await waiting).toBe(allowed)
  })

  test('by one who has gone, wakes those of other lines who were refused because of it', async () => {
    const { log, wait, answer, givenBack } = open()
    const controller = new AbortController()
    const gone = expect(wait('gone', { signal: controller.signal, counters: ['x', 'all'] })).rejects.toThrow()
    const other = wait('other', { counters: ['y', 'all'] })
    controller.abort()
    await gone
    await answer(allowed)
    await answer(refused(30_000))
    expect(log).toEqual(['gone consume', 'other consume', 'gone given back'])
    givenBack[0]?.()
    await setImmediate()
    expect(log.slice(3)).toEqual(['other consume'])
    await answer(allowed)
    expect(await other).toBe(allowed)
  })
})

test('closed while the store is asked: rejected at once, the admission given back', async () => {
  const { lines, log, wait, answer, givenBack } = open()
  const all = ['a', 'b'].map((name) => wait(name))
  lines.close(new Error('closed'))
  for (const one of all) await expect(one).rejects.toThrow('closed')
  await answer(allowed)
  givenBack[0]?.()
  await setImmediate()
  expect(log).toEqual(['a consume', 'a given back'])
  expect([lines.size, lines.waiting]).toEqual([0, 0])
})
