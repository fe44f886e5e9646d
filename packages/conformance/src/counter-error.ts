import { createLimiter, memoryStore } from 'tidegate'
import { SlidingWindowCounter } from './oracle/sliding-window-counter.ts'

/** Traffic of one key: requests of cost 1 that come by chance (a Poisson process) in virtual time. */
export interface Traffic {
  readonly limit: number
  readonly windowMs: number
  /** How many come in a window on average, as a multiple of the limit. */
  readonly load: number
  /** In every other stretch of so many windows nothing comes, and in those between twice as much. Default: 0, evenly. */
  readonly burstWindows?: number
  readonly requests: number
  readonly seed: number
}

/** How far the sliding counter was from the exact sliding window over what it had itself admitted. */
export interface CounterError {
  readonly requests: number
  /** Admitted where the real window was full. */
  readonly wronglyAdmitted: number
  /** Refused where the real window had room. */
  readonly wronglyRefused: number
  /** Both, as a share of all requests. */
  readonly wrongShare: number
  /** Mean of |counted - real| before each request, as a share of the limit. */
  readonly meanDifference: number
  /** The most that any real window held, as a multiple of the limit. */
  readonly mostAdmitted: number
  /** All that was admitted, as a multiple of what an exact sliding window admits of the same traffic. */
  readonly admittedRatio: number
}

/**
 * Takes random traffic through the sliding counter, counts its admissions exactly beside it, and takes the same through
 * an exact sliding window.
 */
export function measureCounterError(traffic: Traffic): CounterError {
  const { limit, windowMs, requests } = traffic
  let now = 0
  const store = memoryStore({ clock: () => now })
  const limiter = createLimiter({ name: 'counter', algorithm: 'sliding-counter', limit, window: windowMs, store })
  const real = new SlidingWindowCounter(limit, windowMs, 1)
  const exact = new SlidingWindowCounter(limit, windowMs, 1)
  let [wronglyAdmitted, wronglyRefused, difference, most, admitted, exactlyAdmitted] = [0, 0, 0, 0, 0, 0]
  for (const time of arrivals(traffic)) {
    now = time
    const counted = limiter.peekSync('k', { cost: 0 }).used
    const { used } = real.verdict(0, 0, now)
    const { allowed } = limiter.limitSync('k')
    if (allowed && used >= limit) wronglyAdmitted++
    if (!allowed && used < limit) wronglyRefused++
    if (allowed) {
      admitted++
      real.admit(1, now)
    }
    if (exact.admits(1, now)) {
      exactlyAdmitted++
      exact.admit(1, now)
    }
    difference += Math.abs(counted - used)
    most = Math.max(most, allowed ? used + 1 : used)
  }
  return {
    requests,
    wronglyAdmitted,
    wronglyRefused,
    wrongShare: (wronglyAdmitted + wronglyRefused) / requests,
    meanDifference: difference / requests / limit,
    mostAdmitted: most / limit,
    admittedRatio: admitted / exactlyAdmitted,
  }
}

/** The times of the requests, whole ms. */
function* arrivals({ limit, windowMs, load, burstWindows = 0, requests, seed }: Traffic): Generator<number> {
  const random = randomNumbers(seed)
  const rate = (limit * load * (burstWindows > 0 ? 2 : 1)) / windowMs
  const stretch = burstWindows * windowMs
  let busy = 0
  for (let i = 0; i < requests; i++) {
    // The gaps of a Poisson process are exponential.
    busy += -Math.log(1 - random()) / rate
    const idle = stretch > 0 ? Math.floor(busy / stretch) * stretch : 0
    yield Math.floor(busy + idle)
  }
}

/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
