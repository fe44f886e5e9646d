import type { Decision } from '../decision.ts'
import { invalid } from '../errors.ts'
import { dimensionValue } from '../http/dimension.ts'
import { createLimiter, type Limiter } from '../limiter.ts'
import { checkFields } from '../options.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store } from '../stores/store.ts'

export interface ThrottlerStorageOptions {
  /** Where hits are counted. Default: a memory store of its own. */
  store?: Store
  /** What the counts are filed under. Required where `store` is given, because others can use it too. */
  name?: string
}

/** What @nestjs/throttler is told of a hit. Times in whole seconds. */
export interface ThrottlerRecord {
  totalHits: number
  timeToExpire: number
  isBlocked: boolean
  timeToBlockExpire: number
}

/** The storage that @nestjs/throttler 6 asks for. */
export interface ThrottlerStorage {
  /** Counts a hit. `ttl` and `blockDuration` in ms. */
  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord>
  onApplicationShutdown(): Promise<void>
}

/** More limits than any application has: a limiter of each is kept. */
const MOST_LIMITS = 1000

/**
 * A storage for @nestjs/throttler 6: `ThrottlerModule.forRoot({ throttlers, storage: throttlerStorage() })`. In any window
 * at most the limit passes; who goes over it is blocked for `blockDuration`, and begins anew after that.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function throttlerStorage(options: ThrottlerStorageOptions = {}): ThrottlerStorage {
  const { store, name } = checkFields(options, 'options', ['store', 'name']) as ThrottlerStorageOptions
  if (store !== undefined && name === undefined) {
    throw invalid('ERR_INVALID_OPTION', 'name', 'a name, because other limiters can use the same store', name)
  }
  return new LimiterStorage(store ?? memoryStore(), name ?? 'nestjs-throttler', store === undefined)
}

class LimiterStorage implements ThrottlerStorage {
  readonly #store: Store
  readonly #name: string
  readonly #ownsStore: boolean
  readonly #limiters = new Map<string, Limiter>()

  constructor(store: Store, name: string, ownsStore: boolean) {
    this.#store = store
    this.#name = name
    this.#ownsStore = ownsStore
    // What is wrong with name or store is told now, and not by the first request.
    this.#limiterOf(60_000, 1, 0)
  }

  async increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord> {
    const limiter = this.#limiterOf(ttl, limit, blockDuration)
    const counted = dimensionValue(`${throttlerName}:${key}`)
    const decision = await limiter.limit(counted)
    if (decision.allowed) {
      const timeToExpire = secondsOf(decision.resetAfterMs as number)
      return { totalHits: decision.used, timeToExpire, isBlocked: false, timeToBlockExpire: 0 }
    }
    const begins = blockDuration > 0 && decision.reason === 'over_limit'
    // After the block counting begins anew. Until then nothing can be admitted on what is given back here.
    if (begins) await limiter.refund(counted, { cost: limit })
    const waitMs = begins ? blockDuration : waitOf(decision, Math.max(ttl, blockDuration))
    return { totalHits: limit + 1, timeToExpire: secondsOf(ttl), isBlocked: true, timeToBlockExpire: secondsOf(waitMs) }
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.#ownsStore) await this.#store.close()
  }

  #limiterOf(ttl: number, limit: number, blockDuration: number): Limiter {
    const shape = `${ttl}:${limit}:${blockDuration}`
    const known = this.#limiters.get(shape)
    if (known !== undefined) return known
    const penalty = blockDuration > 0 ? { penalty: { blocks: [blockDuration] } } : {}
    const limiter = createLimiter({ name: this.#name, limit, window: ttl, store: this.#store, ...penalty })
    if (this.#limiters.size >= MOST_LIMITS) this.#limiters.clear()
    this.#limiters.set(shape, limiter)
    return limiter
  }
}

/** A limit of 0 refuses for ever, of which throttler knows nothing. */
function waitOf({ retryAfterMs }: Decision, foreverMs: number): number {
  return retryAfterMs ?? foreverMs
}

function secondsOf(ms: number): number {
  return Math.ceil(ms / 1000)
}
