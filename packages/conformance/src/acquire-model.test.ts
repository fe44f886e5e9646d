import * as fc from 'fast-check'
import { createLimiter, memoryStore } from 'tidegate'
import type { Store } from 'tidegate/store'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

// Virtual time: Date, performance and setTimeout move together, from 0.
beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

interface Arrival {
  readonly at: number
  readonly cost: number
  readonly timeoutMs: number
  readonly abortAt: number
}

interface Scenario {
  readonly limit: number
  readonly window: number
  readonly arrivals: readonly Arrival[]
}

interface Ending {
  readonly outcome: 'admitted' | 'refused' | 'aborted'
  readonly at: number
}

// Arrivals and windows are even, deadlines and aborts odd: so that the model need not know which of two timers comes first.
const scenarios: fc.Arbitrary<Scenario> = fc
  .record({
    limit: fc.integer({ min: 1, max: 6 }),
    window: fc.integer({ min: 1, max: 30 }).map((half) => half * 2),
    arrivals: fc.array(
      fc.record({
        after: fc.integer({ min: 0, max: 8 }).map((half) => half * 2),
        cost: fc.integer({ min: 1, max: 7 }),
        timeout: fc.integer({ min: 1, max: 200 }).map((half) => half * 2 - 1),
        abort: fc.option(
          fc.integer({ min: 1, max: 100 }).map((half) => half * 2 - 1),
          { nil: Number.POSITIVE_INFINITY },
        ),
      }),
      { minLength: 1, maxLength: 25 },
    ),
  })
  .map(({ arrivals, ...rule }) => {
    let at = 0
    const timed = arrivals.map(({ after, cost, timeout, abort }) => {
      at += after
      return { at, cost, timeoutMs: timeout, abortAt: at + abort }
    })
    return { ...rule, arrivals: timed }
  })

/**
 * When each is admitted, reckoned one after the other without timers: a waiter asks when all before it have ended, and is
 * then admitted at the first ms at which its cost fits, unless it has gone by then; undefined where it is not admitted.
 */
function admissionsOf({ limit, window, arrivals }: Scenario): (number | undefined)[] {
  const log: { at: number; cost: number }[] = []
  let free = 0
  return arrivals.map(({ at, cost, timeoutMs, abortAt }) => {
    const asks = Math.max(at, free)
    const gone = Math.min(at + timeoutMs, abortAt)
    if (gone < asks || cost > limit) return undefined
    const fits = (t: number) => {
      const used = log.reduce((sum, one) => (one.at > t - window && one.at <= t ? sum + one.cost : sum), 0)
      return used + cost <= limit
    }
    let t = asks
    while (!fits(t)) t++
    if (t < gone) {
      free = t
      log.push({ at: t, cost })
      return t
    }
    // Refused at once where the deadline is in the way; it holds up the others only until it is aborted.
    free = t >= at + timeoutMs ? asks : gone
    return undefined
  })
}

/** Runs a scenario to its end, and notes how each waiter ends; more than one ending each would be one too many. */
async function play({ limit, window, arrivals }: Scenario, store: Store): Promise<Ending[][]> {
  const limiter = createLimiter({ name: 'model', limit, window, store })
  const endings: Ending[][] = arrivals.map(() => [])
  for (const [i, { at, cost, timeoutMs, abortAt }] of arrivals.entries()) {
    const controller = new AbortController()
    if (Number.isFinite(abortAt)) setTimeout(() => controller.abort(), abortAt)
    const end = (outcome: Ending['outcome']) => endings[i]?.push({ outcome, at: Date.now() })
    setTimeout(() => {
      limiter.acquire('k', { cost, timeoutMs, signal: controller.signal }).then(
        ({ allowed }) => end(allowed ? 'admitted' : 'refused'),
        () => end('aborted'),
      )
    }, at)
  }
  await vi.runAllTimersAsync()
  expect(vi.getTimerCount()).toBe(0)
  return endings
}

test('random arrivals, costs, deadlines and aborts: each is admitted when the model says, or not at all', async () => {
  const property = fc.asyncProperty(scenarios, async (scenario) => {
    vi.setSystemTime(0)
    const endings = await play(scenario, memoryStore())
    const admissions = admissionsOf(scenario)
    for (const [i, { at, timeoutMs, abortAt }] of scenario.arrivals.entries()) {
      expect(endings[i]).toHaveLength(1)
      const [ending] = endings[i] as [Ending]
      expect(ending.outcome === 'admitted' ? ending.at : undefined).toBe(admissions[i])
      expect(ending.at).toBeLessThanOrEqual(Math.min(at + timeoutMs, abortAt))
      if (ending.outcome === 'aborted') expect(ending.at).toBe(abortAt)
    }
  })
  await fc.assert(property, { numRuns: 80 })
})

/** A memory store as if far away: questions and answers take a while, longer or shorter, but keep their order. */
function distant(latencies: readonly number[]): { store: Store; near: Store } {
  const near = memoryStore()
  let asked = 0
  let [lastThere, lastBack] = [0, 0]
  const far = async <T>(act: () => Promise<T>): Promise<T> => {
    const latency = () => latencies[asked++ % latencies.length] as number
    lastThere = Math.max(lastThere, Date.now() + latency())
    await new Promise((resolve) => setTimeout(resolve, lastThere - Date.now()))
    const answer = await act()
    lastBack = Math.max(lastBack, Date.now() + latency())
    await new Promise((resolve) => setTimeout(resolve, lastBack - Date.now()))
    return answer
  }
  const store: Store = {
    clock: near.clock,
    decide: (checks, mode) => far(() => near.decide(checks, mode)),
    refund: (rule, key, cost, of) => far(() => near.refund(rule, key, cost, of)),
    reserve: near.reserve.bind(near),
    settle: near.settle.bind(near),
    renew: near.renew.bind(near),
    entries: near.entries.bind(near),
    block: near.block.bind(near),
    unblock: near.unblock.bind(near),
    reset: near.reset.bind(near),
    ping: near.ping.bind(near),
    close: near.close.bind(near),
  }
  return { store, near }
}

test('a distant store: order is kept, nothing over-admitted, and whoever has gone has spent nothing', async () => {
  const latencies = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 7 })
  const property = fc.asyncProperty(scenarios, latencies, async (scenario, delays) => {
    vi.setSystemTime(0)
    // One window for all of it: what has been charged and not given back is then still there at the end.
    const { limit, arrivals } = scenario
    const window = 60_000
    const { store, near } = distant(delays)
    const endings = await play({ ...scenario, limit: limit * 4, window }, store)
    const admitted = arrivals
      .map(({ cost }, i) => ({ cost, endings: endings[i] as Ending[] }))
      .filter((one) => one.endings[0]?.outcome === 'admitted')
    expect(endings.every((one) => one.length === 1)).toBe(true)
    const times = admitted.map((one) => one.endings[0]?.at as number)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    const spent = admitted.reduce((sum, { cost }) => sum + cost, 0)
    expect(spent).toBeLessThanOrEqual(limit * 4)
    const reader = createLimiter({ name: 'model', limit: limit * 4, window, store: near })
    expect((await reader.peek('k', { cost: 0 })).used).toBe(spent)
  })
  await fc.assert(property, { numRuns: 80 })
})
