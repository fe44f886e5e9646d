export const LIMIT = 1000
export const WINDOW_MS = 60_000

/** Decides `count` requests, going round `requests`, of which there are a power of two. */
export type Work = (requests: readonly string[], count: number) => void | Promise<void>

/** Makes a limiter and the loop that asks it; it may look at the requests before. */
export type MemoryEngine = (requests: readonly string[]) => Work | Promise<Work>

/** The loop of a limiter that answers at once. */
export function each(ask: (key: string) => void): Work {
  return (requests, count) => {
    const mask = requests.length - 1
    for (let i = 0; i < count; i++) ask(requests[i & mask] as string)
  }
}

/** The loop of a limiter that answers by a promise. */
export function eachAwaited(ask: (key: string) => Promise<void>): Work {
  return async (requests, count) => {
    const mask = requests.length - 1
    for (let i = 0; i < count; i++) await ask(requests[i & mask] as string)
  }
}
