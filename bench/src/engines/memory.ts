import { createLimiter } from 'tidegate'
import { read } from '../reading.ts'
import { each, eachAwaited, LIMIT, type MemoryEngine, WINDOW_MS } from './memory-engine.ts'
import { memoryPeers } from './memory-peers.ts'

const OPTIONS = { limit: LIMIT, window: WINDOW_MS }

const ours = {
  'tidegate `limitSync`': () => {
    const limiter = createLimiter(OPTIONS)
    return each((key) => {
      const { allowed, remaining, retryAfterMs } = limiter.limitSync(key)
      read(allowed, remaining, retryAfterMs)
    })
  },

  'tidegate `await limit`': () => {
    const limiter = createLimiter(OPTIONS)
    return eachAwaited(async (key) => {
      const { allowed, remaining, retryAfterMs } = await limiter.limit(key)
      read(allowed, remaining, retryAfterMs)
    })
  },

  'tidegate `limitSync`, fixed window': () => {
    const limiter = createLimiter({ ...OPTIONS, algorithm: 'fixed-window' })
    return each((key) => {
      const { allowed, remaining, retryAfterMs } = limiter.limitSync(key)
      read(allowed, remaining, retryAfterMs)
    })
  },
} satisfies Record<string, MemoryEngine>

/** What clock, Map and memory set to any limiter. */
const limits = {
  'Date.now() alone': () => each(() => read(true, Date.now(), 0)),

  'Map.get alone': (requests) => {
    const map = new Map(requests.map((key) => [key, { value: 1 }]))
    return each((key) => read(true, map.get(key)?.value ?? 0, 0))
  },

  // What no limiter with full decisions can do without: the time, the key, a cache line of state, an object to answer with.
  'clock, Map.get, 64 bytes of state, an answer': (requests) => {
    const rows = new Float64Array(8 * requests.length)
    const map = new Map([...new Set(requests)].map((key, row) => [key, row * 8]))
    return each((key) => {
      const now = Date.now()
      const row = map.get(key) as number
      const used = (rows[row] as number) + 1
      rows[row] = used
      rows[row + 1] = now
      const remaining = used % 1000
      const figures = { rule: 'r', allowed: true, used, remaining, retryAfterMs: 0, at: now }
      const decision = { rule: 'r', allowed: true, used, remaining, retryAfterMs: 0, at: now, rules: [figures] }
      read(decision.allowed, decision.remaining, decision.rules.length)
    })
  },
} satisfies Record<string, MemoryEngine>

/** The engines that are compared in memory: ours, the peers, and the limits set to any. */
export const memoryEngines: Record<string, MemoryEngine> = { ...ours, ...memoryPeers, ...limits }
