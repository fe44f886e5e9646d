import { NOBODY, notify, type Observer, type WarningCode } from '../observer.ts'
import { type Warn, warnOnce } from '../warning.ts'
import type { StoreHealth } from './store-health.ts'

/** How often a store is asked how it is, ms. */
const INTERVAL_MS = 60_000
/** From which share of its memory, and from which difference of clocks on, a store is warned of. */
const MEMORY_SHARE = 0.9
const SKEW_MS = 1_000

/** Warns by an observer; where it takes no warnings, as Node does. */
export function warningsTo(observer: Observer = NOBODY): Warn {
  return (warning) => (observer.warning === undefined ? warnOnce(warning) : notify(observer, 'warning', warning))
}

/** Asks a store how it is, when it is first used and every minute then, and warns of what will not do: once, until it is over. */
export class StoreWatch {
  readonly #inspect: (() => Promise<StoreHealth>) | undefined
  readonly #warn: Warn
  readonly #warned = new Set<WarningCode>()
  #health: StoreHealth | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #isUnderWay = false

  constructor(inspect: (() => Promise<StoreHealth>) | undefined, warn: Warn) {
    this.#inspect = inspect
    this.#warn = warn
  }

  /** How it was when last asked; undefined where it has not answered yet. */
  get health(): StoreHealth | undefined {
    return this.#health
  }

  /** The timer keeps no process alive. */
  start(): void {
    if (this.#timer !== undefined || this.#inspect === undefined) return
    this.#timer = setInterval(() => void this.look(), INTERVAL_MS)
    ;(this.#timer as { unref?: () => void }).unref?.()
    void this.look()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async look(): Promise<void> {
    if (this.#isUnderWay || this.#inspect === undefined) return
    this.#isUnderWay = true
    try {
      this.#health = await this.#inspect()
      for (const [code, message] of complaints(this.#health)) this.#say(code, message)
    } catch {
      // Whether the store is there, decisions find out.
    } finally {
      this.#isUnderWay = false
    }
  }

  #say(code: WarningCode, message: string | undefined): void {
    if (message === undefined) this.#warned.delete(code)
    else if (!this.#warned.has(code)) {
      this.#warned.add(code)
      this.#warn({ code, message })
    }
  }
}

function complaints({
  evictionPolicy,
  memoryShare,
  isReplica,
  skewMs,
}: StoreHealth): [WarningCode, string | undefined][] {
  const evicts = evictionPolicy !== undefined && evictionPolicy !== 'noeviction'
  const isFull = memoryShare !== undefined && memoryShare >= MEMORY_SHARE
  const isSkewed = skewMs !== undefined && Math.abs(skewMs) > SKEW_MS
  const percent = Math.round((memoryShare ?? 0) * 100)
  return [
    [
      'TIDEGATE_STORE_EVICTS',
      evicts
        ? `Redis may evict keys (maxmemory-policy ${evictionPolicy}), and an evicted key opens its limit: set maxmemory-policy noeviction`
        : undefined,
    ],
    [
      'TIDEGATE_STORE_MEMORY',
      isFull ? `Redis uses ${percent} % of its maxmemory; when it is full, new keys are decided without it` : undefined,
    ],
    [
      'TIDEGATE_STORE_REPLICA',
      isReplica === true ? 'Redis answers as a replica, which cannot count: decisions are made without it' : undefined,
    ],
    [
      'TIDEGATE_CLOCK_SKEW',
      isSkewed
        ? `the clock of Redis is ${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} ours: times in decisions are those of Redis`
        : undefined,
    ],
  ]
}
