import { expect, test } from 'vitest'
import { createGate } from './gate.ts'
import { RequestLimit } from './http/request-limit.ts'
import type { RequestReader } from './http/request-options.ts'
import { createLimiter } from './limiter.ts'
import type { DecisionEvent, Observer } from './observer.ts'

function listening(): { seen: string[]; events: DecisionEvent[]; observer: Observer } {
  const seen: string[] = []
  const events: DecisionEvent[] = []
  const decision = (event: DecisionEvent) => {
    events.push(event)
    seen.push(`${event.operation} ${event.decision.rule} ${event.decision.allowed}`)
  }
  return { seen, events, observer: { decision } }
}

test('a limiter tells of each decision, with the answer that the caller has, and of no peek', async () => {
  const { seen, events, observer } = listening()
  const limiter = createLimiter({ limit: 2, window: '1h', observer })
  const first = await limiter.limit('k')
  await limiter.peek('k')
  limiter.peekSync('k')
  await limiter.reserve('k', { cost: 1, expiresIn: '1m' })
  limiter.limitSync('k')
  await limiter.acquire('k', { timeoutMs: 1 })
  expect(seen).toEqual(['limit limiter true', 'reserve limiter true', 'limit limiter false', 'acquire limiter false'])
  expect(events[0]?.decision).toBe(first)
  for (const { durationMs } of events) expect(durationMs).toBeGreaterThanOrEqual(0)
})

test('a gate does, of requests that no rule matches too; errors are no decisions', async () => {
  const { seen, observer } = listening()
  const gate = createGate({ rules: [{ name: 'r', key: ['user'], limit: 1, window: '1h' }], observer })
  await gate.limit({ user: 'a' })
  gate.limitSync({ user: 'a' })
  gate.update([])
  await gate.limit({ user: 'a' })
  await gate.close()
  await expect(gate.limit({ user: 'a' })).rejects.toThrow('closed')
  expect(() => gate.limitSync({ user: 'a' })).toThrow('closed')
  expect(seen).toEqual(['limit r true', 'limit r false', 'limit null true'])
})

test('an observer that does not listen leaves the methods as they are', () => {
  const limiter = createLimiter({ limit: 1, window: '1h', observer: { lateReply: () => undefined } })
  expect(Object.getOwnPropertyNames(limiter)).not.toContain('limit')
  expect(() => createLimiter({ limit: 1, window: '1h', observer: 5 as never })).toThrow('observer: expected an object')
})

test('one that throws, or rejects, changes no decision', async () => {
  const decision = () => {
    throw new Error('no')
  }
  const limiter = createLimiter({ limit: 1, window: '1h', observer: { decision } })
  expect(limiter.limitSync('k').allowed).toBe(true)
  expect((await limiter.limit('k')).allowed).toBe(false)
})

test('limits of HTTP have one, beside one limit or several; a gate has its own', async () => {
  const reader: RequestReader<object> = {
    peer: () => '192.0.2.1',
    header: () => undefined,
    method: () => 'GET',
    route: () => '/',
    identity: (request) => request,
  }
  const { seen, observer } = listening()
  await new RequestLimit({ limit: 1, window: '1h', observer }, reader).check({})
  await new RequestLimit({ limits: [{ name: 'a', limit: 1, window: '1h' }], observer }, reader).check({})
  expect(seen).toEqual(['limit http true', 'limit a true'])
  const gate = createGate({ rules: [] })
  expect(() => new RequestLimit({ gate, observer }, reader)).toThrow('observer: expected none beside gate')
})
