import { Ratelimit } from '@upstash/ratelimit'
import { read } from '../reading.ts'
import type { Engine } from './engine.ts'
import { upstashClient } from './upstash-client.ts'

type Algorithm = ReturnType<typeof Ratelimit.slidingWindow>

/** Two aligned windows, the former weighted: it can admit too many and refuse too early. */
const sliding = engine('@upstash/ratelimit sliding', 'approximate', (limit, window) =>
  Ratelimit.slidingWindow(limit, window),
)

const fixed = engine('@upstash/ratelimit fixed', 'fixed window', (limit, window) =>
  Ratelimit.fixedWindow(limit, window),
)

export const upstash = { sliding, fixed }

/** Its cache of refused keys is off, as ours is: what is measured is the engine. */
function engine(
  name: string,
  counts: Engine['counts'],
  algorithm: (limit: number, window: `${number} s`) => Algorithm,
): Engine {
  return {
    name,
    counts,
    open: (client, { limit, seconds }) => {
      const options = { ephemeralCache: false, enableTelemetry: false } as const
      const limiter = new Ratelimit({
        redis: upstashClient(client),
        limiter: algorithm(limit, `${seconds} s`),
        ...options,
      })
      return async (key) => {
        const { success, remaining, reset } = await limiter.limit(key)
        read(success, remaining, reset - Date.now())
        return success
      }
    },
  }
}
