import { admitted, type RuleDecision } from '../../decision.ts'
import type { Key } from '../../key.ts'
import type { Rule } from '../../rule.ts'
import type { Check } from '../store.ts'
import { Generations } from './generations.ts'

/** What a bucket lacks of being full, at a time, ms. */
interface Bucket {
  lacks: number
  at: number
  /** The limit by which it fills, tokens in each ms. */
  readonly perMs: number
}

/** A part of a token by which fractions may be out. */
const TOLERANCE = 1e-6

/**
 * A token bucket for each counter of the rules that ask for one. A token is taken for each unit of cost that is sent to the
 * store, and put back where the store does not admit it; who finds too few could not have been admitted.
 */
export class CoarseBuckets {
  readonly #buckets: Generations<Bucket>
  readonly #leadMs: number
  readonly #answered = new WeakSet<RuleDecision>()

  /** @param leadMs how long after it was sent a request may be decided: so much earlier than told it may find its token */
  constructor(maxKeys: number, leadMs: number) {
    this.#buckets = new Generations(maxKeys)
    this.#leadMs = leadMs
  }

  get size(): number {
    return this.#buckets.size
  }

  /** Whether the figures were made here. */
  has(figures: RuleDecision): boolean {
    return this.#answered.has(figures)
  }

  /**
   * The figures of a request that one of its buckets has too few tokens for; undefined where all have enough.
   * @param now ms of the clock that the buckets fill by
   * @param clock what the figures are to be told at, ms since the epoch
   */
  shed(checks: readonly Check[], now: number, clock: () => number): readonly RuleDecision[] | undefined {
    for (const check of checks) {
      if (isCoarse(check) && this.#waitOf(check, now) > 0) return this.#figures(checks, now, clock())
    }
    return undefined
  }

  take(checks: readonly Check[], now: number): void {
    for (const check of checks) {
      if (!isCoarse(check)) continue
      const { rule, key, cost } = check
      const bucket = this.#at(rule, key, now)
      if (bucket === undefined) this.#buckets.set(rule, key, { lacks: cost, at: now, perMs: perMs(rule) })
      else bucket.lacks += cost
    }
  }

  /** Puts back what was taken for a request that was not admitted. */
  putBack(checks: readonly Check[], now: number): void {
    for (const check of checks) if (isCoarse(check)) this.giveBack(check.rule, check.key, check.cost, now)
  }

  giveBack(rule: Rule, key: Key, cost: number, now: number): void {
    if (!rule.coarse) return
    const bucket = this.#at(rule, key, now)
    if (bucket !== undefined) bucket.lacks = Math.max(0, bucket.lacks - cost)
  }

  forget(rule: Rule, key: Key): void {
    if (rule.coarse) this.#buckets.delete(rule, key)
  }

  /** The bucket as it is by now; undefined where it is full. One of another limit says nothing of this one. */
  #at(rule: Rule, key: Key, now: number): Bucket | undefined {
    const bucket = this.#buckets.get(rule, key)
    if (bucket === undefined || bucket.perMs !== perMs(rule)) return undefined
    // A clock that was set back brings nothing, and takes nothing.
    bucket.lacks = Math.max(0, bucket.lacks - Math.max(0, now - bucket.at) * perMs(rule))
    bucket.at = now
    return bucket
  }

  /** Ms until there are tokens for this check. */
  #waitOf({ rule, key, cost }: Check, now: number): number {
    const lacks = this.#at(rule, key, now)?.lacks ?? 0
    const over = lacks + cost - capacityOf(rule) - this.#leadMs * perMs(rule)
    return over <= TOLERANCE * Math.max(1, rule.limit) ? 0 : Math.max(1, Math.ceil(over / perMs(rule)))
  }

  /** Of the other rules nothing is known, and nothing told. */
  #figures(checks: readonly Check[], now: number, at: number): RuleDecision[] {
    return checks.map((check) => {
      const { rule, key } = check
      const wait = isCoarse(check) ? this.#waitOf(check, now) : 0
      const figures = wait > 0 ? shed(rule, wait, this.#resetOf(rule, key, now), at) : admitted(rule, 0, 0, at)
      this.#answered.add(figures)
      return figures
    })
  }

  #resetOf(rule: Rule, key: Key, now: number): number {
    return Math.ceil((this.#at(rule, key, now)?.lacks ?? 0) / perMs(rule))
  }
}

function shed({ name, limit }: Rule, wait: number, resetAfterMs: number, at: number): RuleDecision {
  const waits = { retryAfterMs: wait, resetAfterMs: Math.max(wait, resetAfterMs) }
  return { rule: name, allowed: false, limit, used: limit, remaining: 0, ...waits, reason: 'over_limit', at }
}

/** A cost above the limit is the store's to refuse: no wait helps it. */
function isCoarse({ rule, cost }: Check): boolean {
  return rule.coarse && cost > 0 && cost <= rule.limit
}

/**
 * The most that the rule can admit at once after a long pause. Two aligned windows can follow each other closely, each full;
 * a resolution makes a window longer, never shorter.
 */
function capacityOf({ algorithm, limit }: Rule): number {
  return algorithm === 'fixed-window' || algorithm === 'sliding-counter' ? 2 * limit : limit
}

function perMs({ algorithm, limit, windowMs, refillUnits, tokenUnits }: Rule): number {
  return algorithm === 'token-bucket' ? refillUnits / tokenUnits : limit / windowMs
}
