import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { createLimiter } from 'tidegate'
import { read } from './reading.ts'

const LIMIT = 1000
const WINDOW_SECONDS = 60
const OPTIONS = { limit: LIMIT, window: `${WINDOW_SECONDS}s` }

/** Decides `count` requests, going round `requests`, of which there are a power of two. */
export type Work = (requests: readonly string[], count: number) => void | Promise<void>

export const ENGINES = ['sync', 'flexible', 'awaited', 'clock', 'map', 'floor'] as const
export type EngineName = (typeof ENGINES)[number]

/** The engines that are compared in memory, and the limits that clock and Map set to any. */
export const engines: Record<EngineName, (requests: readonly string[]) => Work> = {
  sync: () => {
    const limiter = createLimiter(OPTIONS)
    return (requests, count) => {
      const mask = requests.length - 1
      for (let i = 0; i < count; i++) {
        const { allowed, remaining, retryAfterMs } = limiter.limitSync(requests[i & mask] as string)
        read(allowed, remaining, retryAfterMs)
      }
    }
  },

  // It says no by a rejection that carries the same figures.
  flexible: () => {
    const limiter = new RateLimiterMemory({ points: LIMIT, duration: WINDOW_SECONDS })
    return async (requests, count) => {
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
  },

  awaited: () => {
    const limiter = createLimiter(OPTIONS)
    return async (requests, count) => {
      const mask = requests.length - 1
      for (let i = 0; i < count; i++) {
        const { allowed, remaining, retryAfterMs } = await limiter.limit(requests[i & mask] as string)
        read(allowed, remaining, retryAfterMs)
      }
    }
  },

  clock: () => (_, count) => {
    for (let i = 0; i < count; i++) read(true, Date.now(), 0)
  },

  map: (requests) => {
    const map = new Map(requests.map((key) => [key, { value: 1 }]))
    return (requests, count) => {
      const mask = requests.length - 1
      for (let i = 0; i < count; i++) read(true, map.get(requests[i & mask] as string)?.value ?? 0, 0)
    }
  },

  // What no limiter with full decisions can do without: the time, the key, a cache line of state, an object to answer with.
  floor: (requests) => {
    const rows = new Float64Array(8 * requests.length)
    const map = new Map([...new Set(requests)].map((key, row) => [key, row * 8]))
    return (requests, count) => {
      const mask = requests.length - 1
      for (let i = 0; i < count; i++) {
        const now = Date.now()
        const row = map.get(requests[i & mask] as string) as number
        const used = (rows[row] as number) + 1
        rows[row] = used
        rows[row + 1] = now
        const remaining = used % 1000
        const figures = { rule: 'r', allowed: true, used, remaining, retryAfterMs: 0, at: now }
        const decision = { rule: 'r', allowed: true, used, remaining, retryAfterMs: 0, at: now, rules: [figures] }
        read(decision.allowed, decision.remaining, decision.rules.length)
      }
    }
  },
}
