import type { Clock } from '../clock.ts'
import { joinKey, type Key } from '../key.ts'
import type { Rule } from '../rule.ts'
import { leasingOf } from './leasing.ts'
import { Pool } from './pool.ts'
import type { PoolEvents } from './pool-events.ts'

/** How often all pools are looked at, ms: a quarter of the shortest life, within these. */
const SOONEST_MS = 10
const LATEST_MS = 250
/** How long a close waits for the store to take permits back, ms. */
const CLOSE_MS = 1_000

/** The keys that permits are held of, by rule; bounded in number. One timer looks after all of them, while there are any. */
export class Pools {
  readonly #maxKeys: number
  readonly #events: PoolEvents
  readonly #now: Clock
  readonly #byRule = new Map<Rule, Map<string, Pool>>()
  readonly #returns = new Set<Promise<unknown>>()
  #size = 0
  #everyMs = LATEST_MS
  #timer: ReturnType<typeof setInterval> | undefined
  #isClosed = false
  // Most often all requests are of one rule.
  #rule: Rule | undefined
  #ofRule: Map<string, Pool> | undefined

  constructor(maxKeys: number, events: PoolEvents, now: Clock) {
    this.#maxKeys = maxKeys
    this.#events = events
    this.#now = now
  }

  get size(): number {
    return this.#size
  }

  held(): number {
    let held = 0
    for (const pools of this.#byRule.values()) for (const pool of pools.values()) held += pool.permits.held
    return held
  }

  find(rule: Rule, key: Key): Pool | undefined {
    if (rule !== this.#rule) {
      this.#rule = rule
      this.#ofRule = this.#byRule.get(rule)
    }
    return this.#ofRule?.get(typeof key === 'string' ? key : joinKey(key))
  }

  /** Undefined where the store has to decide. */
  open(rule: Rule, key: Key): Pool | undefined {
    const known = this.find(rule, key)
    if (known !== undefined) return known
    const leasing = this.#isClosed ? undefined : leasingOf(rule)
    if (leasing === undefined) return undefined
    if (this.#size >= this.#maxKeys && !this.#evict()) return undefined
    const pool = new Pool(leasing, key, this.#events)
    let pools = this.#byRule.get(rule)
    if (pools === undefined) {
      pools = new Map()
      this.#byRule.set(rule, pools)
      this.#rule = undefined
    }
    pools.set(typeof key === 'string' ? key : joinKey(key), pool)
    this.#size++
    this.#watch(leasing.lifeMs)
    return pool
  }

  /** Takes a key out. */
  drop(rule: Rule, key: Key): Pool | undefined {
    const pool = this.find(rule, key)
    if (pool !== undefined) this.#remove(rule, typeof key === 'string' ? key : joinKey(key))
    return pool
  }

  /** Permits are on their way back: a close waits for that. */
  returned<Result>(giving: Promise<Result>): Promise<Result> {
    this.#returns.add(giving)
    const gone = () => this.#returns.delete(giving)
    giving.then(gone, gone)
    return giving
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    const pools = [...this.#byRule.values()].flatMap((ofRule) => [...ofRule.values()])
    await patiently(pools.map((pool) => pool.drained()))
    for (const pool of pools) pool.retire(false)
    this.#byRule.clear()
    this.#rule = undefined
    this.#size = 0
    await patiently([...this.#returns])
  }

  /** The first that nobody waits at: keys come in at the end. */
  #evict(): boolean {
    let looked = 0
    for (const [rule, pools] of this.#byRule) {
      for (const [name, pool] of pools) {
        if (pool.isIdle) {
          this.#remove(rule, name)
          pool.retire(false)
          return true
        }
        if (++looked === MOST_LOOKED_AT) return false
      }
    }
    return false
  }

  #remove(rule: Rule, name: string): void {
    const pools = this.#byRule.get(rule)
    if (pools?.delete(name)) this.#size--
    if (pools?.size === 0) {
      this.#byRule.delete(rule)
      this.#rule = undefined
    }
  }

  #watch(lifeMs: number): void {
    const everyMs = Math.max(SOONEST_MS, Math.min(this.#everyMs, lifeMs / 4))
    if (this.#timer !== undefined && everyMs === this.#everyMs) return
    clearInterval(this.#timer)
    this.#everyMs = everyMs
    this.#timer = setInterval(() => this.tidy(), everyMs)
    ;(this.#timer as { unref?: () => void }).unref?.()
  }

  /** Gives back what is held in vain, and forgets keys that nobody asks for. */
  tidy(): void {
    const now = this.#now()
    for (const [rule, pools] of this.#byRule) {
      for (const [name, pool] of pools) {
        pool.tidy(now, this.#everyMs)
        if (pool.isIdle && pool.permits.held === 0 && now - pool.permits.lastUse > pool.leasing.lifeMs + IDLE_MS) {
          this.#remove(rule, name)
        }
      }
    }
    if (this.#size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#everyMs = LATEST_MS
  }
}

/** How long a key is remembered whose permits are gone, besides their life, ms: its demand is known then. */
const IDLE_MS = 1_000
const MOST_LOOKED_AT = 64

/** Until all of them have come to an end, but not for ever. */
async function patiently(all: readonly Promise<unknown>[]): Promise<void> {
  if (all.length === 0) return
  let timer: ReturnType<typeof setTimeout> | undefined
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, CLOSE_MS)
  })
  await Promise.race([Promise.allSettled(all), patience])
  clearTimeout(timer)
}
