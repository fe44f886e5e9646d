import { type HitCountOptions, HitCounts } from './hit-counts.ts'

/** The hits of a client, and when they are over. */
export interface ClientHits {
  totalHits: number
  resetTime: Date
}

/** What a store is told by the limiter that it serves. */
export interface ServedLimiter {
  readonly windowMs: number
  /** A function where it differs between requests. */
  readonly limit?: unknown
}

const DEFAULT_WINDOW_MS = 60_000

/** The store that express-rate-limit and hono-rate-limiter ask for; their contracts are the same. */
export class WindowStore {
  /** True where a key that is counted here counts in no other instance. */
  readonly localKeys: boolean
  /** What keys are told apart by from those of other limiters. */
  readonly prefix: string
  readonly #counts: HitCounts
  #windowMs = DEFAULT_WINDOW_MS
  #limit: number | undefined

  constructor(options: HitCountOptions, defaultName: string) {
    this.#counts = new HitCounts(options, defaultName)
    this.localKeys = this.#counts.isLocal
    this.prefix = this.#counts.name
  }

  /** @throws TidegateError where no window can be so long, or has such a resolution */
  init({ windowMs, limit }: ServedLimiter): void {
    this.#counts.limiterOf(windowMs)
    this.#windowMs = windowMs
    this.#limit = typeof limit === 'number' ? limit : undefined
  }

  async increment(key: string): Promise<ClientHits> {
    const { total, resetMs, at } = await this.#counts.hit(key, this.#windowMs)
    const isOver = this.#limit !== undefined && total > this.#limit
    // Within a sliding window the next request fits long before the window is empty.
    const waitMs =
      isOver && this.#counts.algorithm === 'sliding-window'
        ? await this.#counts.waitMs(key, this.#windowMs, this.#limit as number)
        : resetMs
    return { totalHits: total, resetTime: new Date(at + waitMs) }
  }

  async decrement(key: string): Promise<void> {
    await this.#counts.takeBack(key, this.#windowMs)
  }

  async get(key: string): Promise<ClientHits | undefined> {
    const { total, resetMs, at } = await this.#counts.read(key, this.#windowMs)
    return total === 0 ? undefined : { totalHits: total, resetTime: new Date(at + resetMs) }
  }

  async resetKey(key: string): Promise<void> {
    await this.#counts.reset(key, this.#windowMs)
  }

  /** Forgets all keys where they are counted in this process; elsewhere nothing, because others count there too. */
  async resetAll(): Promise<void> {
    await this.#counts.resetAll()
  }

  async shutdown(): Promise<void> {
    await this.#counts.close()
  }
}
