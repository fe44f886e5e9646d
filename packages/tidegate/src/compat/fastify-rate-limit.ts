import { MAX_COUNT } from '../decision.ts'
import { ExceedingHits } from './exceeding-hits.ts'
import { type HitCountOptions, HitCounts } from './hit-counts.ts'

export type { HitCountOptions } from './hit-counts.ts'

/** What @fastify/rate-limit hands to a store: its own options, of which these ask something of the store. */
export interface ServedPlugin {
  readonly continueExceeding?: boolean
  readonly exponentialBackoff?: boolean
}

type Callback = (error: Error | null, result?: { current: number; ttl: number }) => void

/** The store that @fastify/rate-limit asks for. */
export interface FastifyRateLimitStore {
  /** Counts a hit. `timeWindow` in ms; `max`: the most in it. */
  incr(key: string, callback: Callback, timeWindow?: number, max?: number): void
  /** The count as it stands. */
  read(key: string, callback: Callback, timeWindow?: number, max?: number): void
  /** The store of a route: it counts in the same place, because the plugin's keys and windows tell routes apart. */
  child(route: object): FastifyRateLimitStore
}

interface RouteInfo {
  readonly method?: string | readonly string[]
  readonly url?: string
}

/** What @fastify/rate-limit makes its store by. */
export type FastifyRateLimitStoreClass = new (plugin: ServedPlugin) => FastifyRateLimitStore

const DEFAULT_WINDOW_MS = 60_000

/**
 * A store for @fastify/rate-limit 11: `app.register(rateLimit, { max, timeWindow, store: fastifyRateLimitStore() })`.
 * `continueExceeding` is how a sliding window counts anyway.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function fastifyRateLimitStore(options: HitCountOptions = {}): FastifyRateLimitStoreClass {
  const counts = new HitCounts(options, 'fastify-rate-limit')
  return class extends PluginStore {
    constructor(plugin: ServedPlugin) {
      super(counts, plugin, '')
    }
  }
}

class PluginStore implements FastifyRateLimitStore {
  readonly #counts: HitCounts
  /** What becomes of those who go over their limit, where that is more than a refusal. */
  readonly #exceeding: ExceedingHits | undefined
  readonly #plugin: ServedPlugin
  /** What stands before the keys of a route that has a limit of its own. */
  readonly #route: string

  constructor(counts: HitCounts, plugin: ServedPlugin, route: string) {
    this.#counts = counts
    this.#exceeding = exceedingOf(plugin, counts)
    this.#plugin = plugin
    this.#route = route
  }

  incr(key: string, callback: Callback, timeWindow = DEFAULT_WINDOW_MS, max?: number): void {
    answer(this.#hit(this.#route + key, timeWindow, max), callback)
  }

  read(key: string, callback: Callback, timeWindow = DEFAULT_WINDOW_MS, max = MAX_COUNT): void {
    const counted = this.#route + key
    const reading =
      this.#exceeding?.read(counted, timeWindow, max) ??
      this.#counts.read(counted, timeWindow).then(({ total, resetMs }) => ({ current: total, ttl: resetMs }))
    answer(reading, callback)
  }

  child(route: object): FastifyRateLimitStore {
    const { routeInfo, ...plugin } = route as ServedPlugin & { readonly routeInfo?: RouteInfo }
    const { method = '', url = '' } = routeInfo ?? {}
    return new PluginStore(this.#counts, { ...this.#plugin, ...plugin }, `${String(method)}${url}-`)
  }

  async #hit(key: string, windowMs: number, max: number | undefined): Promise<{ current: number; ttl: number }> {
    if (this.#exceeding !== undefined && max !== undefined) return this.#exceeding.hit(key, windowMs, max)
    const { total, resetMs } = await this.#counts.hit(key, windowMs)
    const isOver = max !== undefined && total > max
    // Within a sliding window the next request fits long before the window is empty.
    const isSliding = this.#counts.algorithm === 'sliding-window'
    return { current: total, ttl: isOver && isSliding ? await this.#counts.waitMs(key, windowMs, max) : resetMs }
  }
}

function answer(result: Promise<{ current: number; ttl: number }>, callback: Callback): void {
  result.then(
    (found) => callback(null, found),
    (error: Error) => callback(error),
  )
}

function exceedingOf(
  { continueExceeding = false, exponentialBackoff = false }: ServedPlugin,
  counts: HitCounts,
): ExceedingHits | undefined {
  // In a sliding window who goes on asking stays out as it is.
  if (continueExceeding) return counts.algorithm === 'fixed-window' ? new ExceedingHits(counts, 'renew') : undefined
  return exponentialBackoff ? new ExceedingHits(counts, 'double') : undefined
}
