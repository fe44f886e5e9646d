import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Decision } from '../decision.ts'
import { createLimiter, type Limiter, type LimiterOptions } from '../limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store } from '../stores/store.ts'
import { LeasedStore } from './leased-store.ts'

/** One admission: it was decided between the two times, ms. */
interface Admitted {
  readonly from: number
  readonly to: number
  readonly cost: number
}

interface Step {
  readonly move: number
  readonly process: number
  readonly cost: number
  readonly what: 'limit' | 'refund' | 'kill' | 'tidy' | 'peek' | 'close' | 'lose'
}

interface Process {
  readonly limiter: Limiter
  readonly store: LeasedStore
  readonly decisions: [Admitted, Decision][]
}

const PROCESSES = 4

/** Several processes on one store, over a network with delays, in a time of the test's own. */
class World {
  now = 1_000_000
  readonly admitted: Admitted[] = []
  readonly #store = memoryStore({ clock: () => this.now })
  readonly #options: LimiterOptions
  readonly #delay: () => number
  #events: { at: number; run: () => void }[] = []
  #processes: Process[]
  #losesReplies = false

  constructor(options: LimiterOptions, delay: () => number) {
    this.#options = options
    this.#delay = delay
    this.#processes = Array.from({ length: PROCESSES }, (_, i) => this.#start(i))
  }

  async step({ move, process, cost, what }: Step): Promise<void> {
    await this.advance(move)
    const one = this.#processes[process] as Process
    if (what === 'kill') this.#processes[process] = this.#start(process)
    else if (what === 'tidy') one.store.tidy()
    else if (what === 'close') {
      void one.store.close()
      this.#processes[process] = this.#start(process)
    } else if (what === 'peek') one.limiter.peek('k', { cost }).catch(isLost)
    else if (what === 'lose') this.#losesReplies = !this.#losesReplies
    else if (what === 'refund') {
      const latest = one.decisions.pop()
      if (latest !== undefined) await this.#refund(one.limiter, latest)
    } else {
      const from = this.now
      void one.limiter.limit('k', { cost }).then((decision) => {
        if (!decision.allowed) return
        const admission = { from, to: this.now, cost }
        this.admitted.push(admission)
        one.decisions.push([admission, decision])
      }, isLost)
    }
    await settle()
  }

  /** What is given back was as if it had never been. */
  async #refund(limiter: Limiter, [admission, decision]: [Admitted, Decision]) {
    this.admitted.splice(this.admitted.indexOf(admission), 1)
    limiter.refund('k', { decision, cost: admission.cost }).catch(isLost)
  }

  async advance(ms: number): Promise<void> {
    for (const end = this.now + ms; ; ) {
      this.#events.sort((one, other) => one.at - other.at)
      const next = this.#events[0]
      if (next === undefined || next.at > end) {
        this.now = end
        return
      }
      this.#events.shift()
      this.now = next.at
      next.run()
      await settle()
    }
  }

  #start(process: number): Process {
    const { slack } = this.#options
    const store = new LeasedStore(this.#overNetwork(), {
      now: () => this.now + 977 * process,
      ...(slack && { instances: PROCESSES }),
    })
    return { limiter: createLimiter({ ...this.#options, name: 'a', mode: 'leased', store }), store, decisions: [] }
  }

  #overNetwork(): Store {
    const travel = () => new Promise<void>((run) => this.#events.push({ at: this.now + this.#delay(), run }))
    const ask = async <Answer>(act: () => Promise<Answer>): Promise<Answer> => {
      await travel()
      const answer = await act()
      await travel()
      if (this.#losesReplies) throw new Error('lost')
      return answer
    }
    const store = this.#store
    return {
      clock: store.clock,
      decide: (checks, mode) => ask(() => store.decide(checks, mode)),
      reserve: (checks, ms) => ask(() => store.reserve(checks, ms)),
      settle: (rule, key, id, cost) => ask(() => store.settle(rule, key, id, cost)),
      refund: (rule, key, cost, of) => ask(() => store.refund(rule, key, cost, of)),
      renew: (rule, key, id) => store.renew(rule, key, id),
      entries: (rule, key) => store.entries(rule, key),
      block: (rule, key, ms) => store.block(rule, key, ms),
      unblock: (rule, key) => store.unblock(rule, key),
      reset: (rule, key) => store.reset(rule, key),
      ping: () => store.ping(),
      close: async () => undefined,
    }
  }
}

function isLost(error: Error): void {
  if (error.message !== 'lost') throw error
}

/** Everything that can go on without time. */
async function settle(): Promise<void> {
  for (let i = 0; i < 12; i++) await Promise.resolve()
}

/** The most cost that was certainly admitted within any span of so many ms. */
function mostWithin(admitted: readonly Admitted[], spanMs: number): number {
  let most = 0
  for (const { to } of admitted) {
    const inside = admitted.filter((one) => one.from > to - spanMs && one.to <= to)
    most = Math.max(
      most,
      inside.reduce((sum, { cost }) => sum + cost, 0),
    )
  }
  return most
}

const steps = fc.array(
  fc.record({
    move: fc.oneof({ weight: 30, arbitrary: fc.nat(1) }, { weight: 1, arbitrary: fc.nat(40) }),
    process: fc.nat(PROCESSES - 1),
    cost: fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }) }),
    what: fc.oneof(
      { weight: 40, arbitrary: fc.constant('limit' as const) },
      { weight: 3, arbitrary: fc.constantFrom('refund' as const, 'tidy' as const, 'peek' as const) },
      { weight: 1, arbitrary: fc.constantFrom('kill' as const, 'close' as const, 'lose' as const) },
    ),
  }),
  { minLength: 150, maxLength: 350 },
)

const delays = fc.array(fc.nat(4), { minLength: 7, maxLength: 13 })

async function run(options: LimiterOptions, all: readonly Step[], delays: readonly number[]): Promise<World> {
  let next = 0
  const world = new World(options, () => delays[next++ % delays.length] as number)
  for (const step of all) await world.step(step)
  await world.advance(1_000)
  return world
}

const RUNS = { numRuns: 60 }
const limits = fc.integer({ min: 1, max: 30 })

describe('several processes that lease from one store, some of them killed, over a network that delays and loses', () => {
  test('sliding window: no window admits more than the limit', { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(
      steps,
      delays,
      limits,
      fc.integer({ min: 30, max: 90 }),
      async (all, wait, limit, window) => {
        const { admitted } = await run({ limit, window, leaseMs: 25 }, all, wait)
        expect(mostWithin(admitted, window)).toBeLessThanOrEqual(limit)
      },
    )
    await fc.assert(property, RUNS)
  })

  test('the same with a resolution', { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(
      steps,
      delays,
      limits,
      fc.integer({ min: 1, max: 60 }),
      async (all, wait, limit, resolution) => {
        const { admitted } = await run({ limit, window: 100, resolution, leaseMs: 10 }, all, wait)
        expect(mostWithin(admitted, 100)).toBeLessThanOrEqual(limit)
      },
    )
    await fc.assert(property, RUNS)
  })

  test('slack: no window admits more than the limit and what may be held', { timeout: 120_000 }, async () => {
    const slacks = fc.constantFrom(0.02, 0.2, 1)
    const property = fc.asyncProperty(steps, delays, limits, slacks, async (all, wait, limit, slack) => {
      // Those who are killed leave their permits behind, and nobody uses them.
      const { admitted } = await run({ limit, window: 120, slack }, all, wait)
      const held = PROCESSES * Math.max(1, Math.floor((slack * limit) / PROCESSES))
      expect(mostWithin(admitted, 120)).toBeLessThanOrEqual(limit + held)
    })
    await fc.assert(property, RUNS)
  })

  test('fixed window: no window of the epoch admits more than the limit', { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(steps, delays, limits, async (all, wait, limit) => {
      const window = 100
      const { admitted } = await run({ limit, window, algorithm: 'fixed-window' }, all, wait)
      const of = (time: number) => Math.floor(time / window)
      const sums = new Map<number, number>()
      for (const { from, to, cost } of admitted) {
        if (of(from) === of(to)) sums.set(of(to), (sums.get(of(to)) ?? 0) + cost)
      }
      expect(Math.max(0, ...sums.values())).toBeLessThanOrEqual(limit)
    })
    await fc.assert(property, RUNS)
  })

  test('token bucket: in any time no more than the capacity and what comes in it', { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(steps, delays, fc.integer({ min: 10, max: 40 }), async (all, wait, capacity) => {
      const { admitted } = await run({ limit: 10, window: 100, capacity, algorithm: 'token-bucket' }, all, wait)
      for (const span of [1, 10, 50, 100, 400]) {
        expect(mostWithin(admitted, span)).toBeLessThanOrEqual(capacity + span / 10)
      }
    })
    await fc.assert(property, RUNS)
  })
})

test('four processes whose demand comes and goes: the limit holds, and most of it is used', async () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const [limit, window] = [60, 300]
  const world = new World({ limit, window, leaseMs: 60 }, () => random(4))
  for (let i = 0; i < 12_000; i++) {
    // Bursts of one process, and pauses in which what it holds gets old.
    const [process, move] = [Math.floor(i / 40) % PROCESSES, random(60) === 0 ? random(60) : random(5) === 0 ? 1 : 0]
    await world.step({ move, process: random(4) === 0 ? random(PROCESSES) : process, cost: 1, what: 'limit' })
    if (random(50) === 0) await world.step({ move: 0, process: random(PROCESSES), cost: 1, what: 'tidy' })
    if (random(400) === 0) await world.step({ move: 0, process: random(PROCESSES), cost: 1, what: 'kill' })
  }
  expect(mostWithin(world.admitted, window)).toBeLessThanOrEqual(limit)
  const lasted = world.now - 1_000_000
  expect(world.admitted.length).toBeGreaterThan((0.5 * limit * lasted) / (window + 60))
})

test('permits are not lost: one process that asks all the time gets nearly all of each longer window', async () => {
  const world = new World({ limit: 50, window: 1_000, leaseMs: 50 }, () => 1)
  for (let i = 0; i < 10_000; i++) await world.step({ move: 1, process: 0, cost: 1, what: 'limit' })
  const most = (50 * 10_000) / 1_050
  expect(world.admitted.length).toBeGreaterThan(0.9 * most)
  expect(mostWithin(world.admitted, 1_000)).toBeLessThanOrEqual(50)
})
