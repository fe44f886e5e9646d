import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BreakerEvent } from '../observer.ts'
import { Breaker, type BreakerSettings, type Permit } from './breaker.ts'

const settings: BreakerSettings = {
  failures: 3,
  share: 0.5,
  windowMs: 1000,
  minimum: 10,
  backoffMs: 100,
  maxBackoffMs: 800,
}

function breakerAt(random = 1, given: Partial<BreakerSettings> = {}) {
  const time = { now: 0 }
  const events: BreakerEvent[] = []
  const breaker = new Breaker(
    { ...settings, ...given },
    () => time.now,
    () => random,
    (event) => events.push(event),
  )
  const ask = (succeeds: boolean) => {
    const permit = breaker.ask()
    if (permit === undefined) return false
    if (succeeds) breaker.succeed(permit)
    else breaker.fail(permit)
    return true
  }
  return { breaker, time, events, ask }
}

describe('a breaker', () => {
  test('opens after failures in a row, looks after the store by one probe, asks once, and closes', () => {
    const { breaker, time, events, ask } = breakerAt()
    ask(false)
    ask(false)
    ask(true)
    ask(false)
    ask(false)
    expect(breaker.state).toBe('closed')
    ask(false)
    expect([breaker.state, breaker.retryInMs, ask(true)]).toEqual(['open', 100, false])
    time.now = 99
    expect(breaker.probe()).toBeUndefined()
    time.now = 100
    const probe = breaker.probe() as Permit
    expect([probe, breaker.probe()]).toEqual([expect.any(Number), undefined])
    breaker.succeed(probe)
    const trial = breaker.ask() as Permit
    expect([breaker.state, breaker.ask()]).toEqual(['half-open', undefined])
    breaker.succeed(trial)
    expect([breaker.state, ask(true), ask(true)]).toEqual(['closed', true, true])
    expect(events).toEqual([
      { from: 'closed', to: 'open', retryInMs: 100 },
      { from: 'open', to: 'half-open', retryInMs: 0 },
      { from: 'half-open', to: 'closed', retryInMs: 0 },
    ])
  })

  test('opens by the share of failures, once there are enough, and those of an earlier time do not count', () => {
    const { breaker, time, ask } = breakerAt(1, { failures: 1000 })
    for (let i = 0; i < 9; i++) ask(i % 2 === 0)
    expect(breaker.state).toBe('closed')
    time.now = 2000
    for (let i = 0; i < 9; i++) ask(i % 2 === 1)
    expect(breaker.state).toBe('closed')
    ask(false)
    expect(breaker.state).toBe('open')
  })

  test.each([
    [1, [100, 200, 400, 800, 800]],
    [0, [50, 100, 200, 400, 400]],
  ])('pauses twice as long after each probe that fails, up to the longest; random %i', (random, pauses) => {
    const { breaker, time, ask } = breakerAt(random)
    for (let i = 0; i < 3; i++) ask(false)
    const seen = []
    for (let i = 0; i < 5; i++) {
      seen.push(breaker.retryInMs)
      time.now += breaker.retryInMs
      breaker.fail(breaker.probe() as Permit)
    }
    expect(seen).toEqual(pauses)
  })

  test('opens again with a longer pause where the question in earnest fails', () => {
    const { breaker, time, ask } = breakerAt()
    for (let i = 0; i < 3; i++) ask(false)
    time.now = 100
    breaker.succeed(breaker.probe() as Permit)
    ask(false)
    expect([breaker.state, breaker.retryInMs]).toEqual(['open', 200])
  })

  test('does not wait for its probe where somebody else has had an answer', () => {
    const { breaker, ask } = breakerAt()
    for (let i = 0; i < 3; i++) ask(false)
    breaker.heard()
    expect([breaker.state, ask(true), breaker.state]).toEqual(['half-open', true, 'closed'])
  })

  const step = fc.record({
    pass: fc.integer({ min: 0, max: 300 }),
    what: fc.constantFrom('ask', 'probe', 'succeed', 'fail', 'heard'),
    which: fc.nat(),
  })

  test('whatever happens: never two at a time unless closed, old outcomes mean nothing, and a store that is back is found', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.double({ min: 0, max: 1, noNaN: true }), (steps, random) => {
        const { breaker, time, events } = breakerAt(random)
        const out: Permit[] = []
        let current: Permit[] = []
        let changes = 0
        for (const { pass, what, which } of steps) {
          time.now += pass
          if (what === 'ask' || what === 'probe') {
            const state = breaker.state
            const permit = what === 'ask' ? breaker.ask() : breaker.probe()
            if (permit === undefined) expect(state).not.toBe(what === 'ask' ? 'closed' : undefined)
            else {
              expect(state).not.toBe(what === 'ask' ? 'open' : 'closed')
              if (state !== 'closed') expect(current).toEqual([])
              out.push(permit)
              current.push(permit)
            }
          } else if (what === 'heard') {
            breaker.heard()
          } else if (out.length > 0) {
            const [permit] = out.splice(which % out.length, 1) as [Permit]
            const [before, isCurrent] = [breaker.state, current.includes(permit)]
            const seen = events.length
            if (what === 'succeed') breaker.succeed(permit)
            else breaker.fail(permit)
            if (!isCurrent) expect([breaker.state, events.length]).toEqual([before, seen])
            current.splice(current.indexOf(permit), isCurrent ? 1 : 0)
          }
          // A change makes all that is out mean nothing, and so does a probe that fails.
          if (events.length !== changes || breaker.state !== 'closed') {
            if (events.length !== changes) current = []
            changes = events.length
          }
          if (breaker.state === 'open' && what === 'fail') current = []
          expect(breaker.retryInMs).toBeLessThanOrEqual(settings.maxBackoffMs)
        }
        // However it stands: at the latest after the longest pause and with what is out settled, it closes.
        for (const permit of out) breaker.fail(permit)
        if (breaker.state === 'open') {
          time.now += settings.maxBackoffMs
          breaker.succeed(breaker.probe() as Permit)
        }
        if (breaker.state === 'half-open') breaker.succeed(breaker.ask() as Permit)
        expect(breaker.state).toBe('closed')
        for (const { from, to } of events) {
          expect(['closed open', 'open half-open', 'half-open closed', 'half-open open']).toContain(`${from} ${to}`)
        }
      }),
      { numRuns: 500 },
    )
  })
})
