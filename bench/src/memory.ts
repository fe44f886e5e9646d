import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { createLimiter, type Limiter } from 'tidegate'
import type { Outcome } from './findings.ts'
import type { Plan } from './plan.ts'
import { read } from './reading.ts'
import { type Contestant, interleave, ratio, type Series, spread } from './rounds.ts'

const LIMIT = 1000
const WINDOW_SECONDS = 60
const MANY = 100_000
/** Requests in random order, made before anything is measured; a power of two, so that going round is one AND. */
const REQUESTS = 2 ** 19

/** One process, no network: a hot key that is mostly refused, and many keys that are mostly admitted. */
export async function measureMemory(plan: Plan): Promise<Outcome> {
  const hot = await measureKeys(['user-000001'], plan, 4_000_000, 400_000)
  const keys = Array.from({ length: MANY }, (_, i) => `user-${String(i).padStart(6, '0')}`)
  const requests = Array.from({ length: REQUESTS }, () => keys[Math.floor(Math.random() * MANY)] as string)
  const many = await measureKeys(requests, plan, REQUESTS, REQUESTS)
  return {
    findings: [
      { target: 'memoryHot', measured: ratio(hot.sync, hot.flexible) },
      { target: 'memoryMany', measured: ratio(many.sync, many.flexible) },
    ],
    references: [...describe('hot key', hot), ...describe('100k keys', many)],
  }
}

type Results = Record<'sync' | 'flexible' | 'asynchronous' | 'clock' | 'map', Series>

async function measureKeys(requests: readonly string[], plan: Plan, ours: number, theirs: number): Promise<Results> {
  const options = { limit: LIMIT, window: `${WINDOW_SECONDS}s` }
  const [limiter, awaited] = [createLimiter(options), createLimiter(options)]
  const flexible = new RateLimiterMemory({ points: LIMIT, duration: WINDOW_SECONDS })
  const map = new Map(requests.map((key) => [key, { value: 1 }]))
  const [fast, slow] = [Math.round(ours * plan.scale), Math.round(theirs * plan.scale)]
  const contestants: Contestant[] = [
    { name: 'tidegate limitSync', measure: () => rate(fast, () => decideSync(limiter, requests, fast)) },
    { name: 'rate-limiter-flexible', measure: () => rateOf(slow, () => decideFlexible(flexible, requests, slow)) },
    { name: 'tidegate await limit', measure: () => rateOf(fast, () => decideAwaited(awaited, requests, fast)) },
    { name: 'Date.now() alone', measure: () => rate(fast, () => readClock(fast)) },
    { name: 'Map.get alone', measure: () => rate(fast, () => readMap(map, requests, fast)) },
  ]
  const [sync, peer, asynchronous, clock, bare] = await interleave(contestants, plan.rounds)
  return { sync, flexible: peer, asynchronous, clock, map: bare } as Results
}

function describe(keys: string, results: Results): Outcome['references'] {
  return Object.values(results).map((series) => {
    const measured = spread(series.values.map((value) => value / 1e6))
    return { what: `Memory, ${keys}: ${series.name}`, measured, unit: 'M/s' }
  })
}

function rate(count: number, work: () => void): number {
  const start = performance.now()
  work()
  return (count / (performance.now() - start)) * 1000
}

async function rateOf(count: number, work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return (count / (performance.now() - start)) * 1000
}

function decideSync(limiter: Limiter, requests: readonly string[], count: number): void {
  const mask = requests.length - 1
  for (let i = 0; i < count; i++) {
    const { allowed, remaining, retryAfterMs } = limiter.limitSync(requests[i & mask] as string)
    read(allowed, remaining, retryAfterMs)
  }
}

async function decideAwaited(limiter: Limiter, requests: readonly string[], count: number): Promise<void> {
  const mask = requests.length - 1
  for (let i = 0; i < count; i++) {
    const { allowed, remaining, retryAfterMs } = await limiter.limit(requests[i & mask] as string)
    read(allowed, remaining, retryAfterMs)
  }
}

/** It says no by a rejection that carries the same figures. */
async function decideFlexible(limiter: RateLimiterMemory, requests: readonly string[], count: number): Promise<void> {
  const mask = requests.length - 1
  for (let i = 0; i < count; i++) {
    try {
      const { remainingPoints } = await limiter.consume(requests[i & mask] as string)
      read(true, remainingPoints, 0)
    } catch (refusal) {
      const { remainingPoints, msBeforeNext } = refusal as RateLimiterRes
      read(false, remainingPoints, msBeforeNext)
    }
  }
}

function readClock(count: number): void {
  for (let i = 0; i < count; i++) read(true, Date.now(), 0)
}

function readMap(map: ReadonlyMap<string, { value: number }>, requests: readonly string[], count: number): void {
  const mask = requests.length - 1
  for (let i = 0; i < count; i++) read(true, map.get(requests[i & mask] as string)?.value ?? 0, 0)
}
