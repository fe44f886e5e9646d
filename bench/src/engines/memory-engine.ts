export const LIMIT = 1000
export const WINDOW_MS = 60_000

/**
 * Decides requests for so many seconds, going round `requests`, of which there are a power of two, from where it ended.
 * @returns how many
 */
export type Work = (requests: readonly string[], seconds: number) => number | Promise<number>

/** Between two looks at the clock: too few to matter for the slowest, so many that the fastest do not feel it. */
const BURST = 256

/** Makes a limiter and the loop that asks it; it may look at the requests before. */
export type MemoryEngine = (requests: readonly string[]) => Work | Promise<Work>

/** The loop of a limiter that answers at once. */
export function each(ask: (key: string) => void): Work {
  let position = 0
  return (requests, seconds) => {
    const mask = requests.length - 1
    const until = performance.now() + seconds * 1000
    const first = position
    while (performance.now() < until) {
      for (let i = 0; i < BURST; i++) ask(requests[position++ & mask] as string)
    }
    return position - first
  }
}

/** The loop of a limiter that answers by a promise. */
export function eachAwaited(ask: (key: string) => Promise<void>): Work {
  let position = 0
  return async (requests, seconds) => {
    const mask = requests.length - 1
    const until = performance.now() + seconds * 1000
    const first = position
    while (performance.now() < until) {
      for (let i = 0; i < BURST; i++) await ask(requests[position++ & mask] as string)
    }
    return position - first
  }
}
