import { MAX_COUNT } from '../decision.ts'
import type { Duration } from '../duration.ts'
import { invalid } from '../errors.ts'
import { dimensionValue } from '../http/dimension.ts'
import { createLimiter, type Limiter } from '../limiter.ts'
import { checkFields } from '../options.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store } from '../stores/store.ts'

/** What the stores for other limiters have in common. */
export interface HitCountOptions {
  /** Where hits are counted. Default: a memory store of its own. */
  store?: Store
  /** What the counts are filed under. Required where `store` is given, because others can use it too. */
  name?: string
  /**
   * `sliding-window`: at no time are more than the limit admitted in a window. `fixed-window`: counted from a client's
   * first hit, as the memory stores of those limiters do. Default: `sliding-window`.
   */
  algorithm?: 'sliding-window' | 'fixed-window'
  /** Sliding window: hits join the tick that they fall in, which only ever refuses earlier. Default: window / 1,000. */
  resolution?: Duration
}

/** The hits of one key. */
export interface Hits {
  /** How many count now. */
  readonly total: number
  /** Milliseconds until none does. */
  readonly resetMs: number
  /** Milliseconds since the epoch, on the store's clock. */
  readonly at: number
}

const ALGORITHMS = ['sliding-window', 'fixed-window']
const FIELDS = ['store', 'name', 'algorithm', 'resolution']
const TICKS = 1000
/** For how many windows at most a client that goes on asking is remembered, and how long at most altogether, ms. */
const MOST_EXCEEDING = 1000
const LONGEST_MS = 366 * 86_400_000
/** More windows than any application has: a limiter of each is kept. */
const MOST_WINDOWS = 1000

/**
 * Counts every hit, the refused ones too, as the limiters that are served by it expect: they compare the count with their
 * limit, and take back the hits that they do not want counted.
 */
export class HitCounts {
  readonly algorithm: 'sliding-window' | 'fixed-window'
  readonly isLocal: boolean
  readonly name: string
  #store: Store
  readonly #resolution: Duration | undefined
  readonly #limiters = new Map<number, Limiter>()
  readonly #exceeding = new Map<number, Limiter>()

  /** @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION` */
  constructor(options: HitCountOptions, defaultName: string) {
    checkFields(options, 'options', FIELDS)
    const { algorithm = 'sliding-window', store, name } = options
    if (!ALGORITHMS.includes(algorithm)) {
      throw invalid('ERR_INVALID_OPTION', 'algorithm', `one of ${ALGORITHMS.join(', ')}`, algorithm)
    }
    if (store !== undefined && name === undefined) {
      throw invalid('ERR_INVALID_OPTION', 'name', 'a name, because other limiters can use the same store', name)
    }
    this.algorithm = algorithm
    this.isLocal = store === undefined
    this.name = name ?? defaultName
    this.#store = store ?? memoryStore()
    this.#resolution = options.resolution
    // What is wrong with name or resolution is told now, and not by the first request.
    this.limiterOf(60_000)
  }

  /** Counts one hit. */
  async hit(key: string, windowMs: number): Promise<Hits> {
    const { used, resetAfterMs, at } = await this.limiterOf(windowMs).limit(dimensionValue(key))
    return { total: used, resetMs: resetAfterMs as number, at }
  }

  /** The hits as they stand. */
  async read(key: string, windowMs: number): Promise<Hits> {
    const { used, resetAfterMs, at } = await this.limiterOf(windowMs).peek(dimensionValue(key), { cost: 0 })
    return { total: used, resetMs: resetAfterMs as number, at }
  }

  /** Takes one hit back; never below none, and none of a window that is over. */
  async takeBack(key: string, windowMs: number): Promise<void> {
    await this.limiterOf(windowMs).refund(dimensionValue(key))
  }

  /** Milliseconds until a further hit is within the limit, if none comes before. */
  async waitMs(key: string, windowMs: number, limit: number): Promise<number> {
    // What has to fit in the count beside it leaves room for one less than the limit.
    const cost = MAX_COUNT - Math.max(0, limit - 1)
    const { retryAfterMs, resetAfterMs } = await this.limiterOf(windowMs).peek(dimensionValue(key), { cost })
    return retryAfterMs ?? (resetAfterMs as number)
  }

  async reset(key: string, windowMs: number): Promise<void> {
    await this.limiterOf(windowMs).reset(dimensionValue(key))
  }

  /** Forgets everything, where the counts are in this process; a store that was handed in has those of others too. */
  async resetAll(): Promise<void> {
    if (!this.isLocal) return
    const before = this.#store
    // First the new one: hits that come meanwhile have to be counted somewhere.
    this.#store = memoryStore()
    this.#limiters.clear()
    this.#exceeding.clear()
    await before.close()
  }

  /** Ends the store if it was made here. */
  async close(): Promise<void> {
    if (this.isLocal) await this.#store.close()
  }

  /** Counts every hit in a window. */
  limiterOf(windowMs: number): Limiter {
    const known = this.#limiters.get(windowMs)
    if (known !== undefined) return known
    const shared = { name: this.name, limit: MAX_COUNT, window: windowMs, store: this.#store }
    const limiter = createLimiter(
      this.algorithm === 'fixed-window'
        ? { ...shared, algorithm: 'fixed-window', align: 'first-hit' }
        : { ...shared, resolution: this.#resolution ?? Math.ceil(windowMs / TICKS) },
    )
    if (this.#limiters.size >= MOST_WINDOWS) this.#limiters.clear()
    this.#limiters.set(windowMs, limiter)
    return limiter
  }

  /** Counts the hits over a limit from the first on, for as long as `longestMs`. */
  exceedingOf(windowMs: number): Limiter {
    const known = this.#exceeding.get(windowMs)
    if (known !== undefined) return known
    const limiter = createLimiter({
      ...{ name: `${this.name}-over`, limit: MAX_COUNT, store: this.#store },
      ...{ algorithm: 'fixed-window', align: 'first-hit', window: longestMs(windowMs) },
    })
    if (this.#exceeding.size >= MOST_WINDOWS) this.#exceeding.clear()
    this.#exceeding.set(windowMs, limiter)
    return limiter
  }
}

/** The longest time, in ms, that a client of this window is kept out. */
export function longestMs(windowMs: number): number {
  return Math.min(windowMs * MOST_EXCEEDING, LONGEST_MS)
}
