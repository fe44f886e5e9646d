import type { Decision } from '../decision.ts'
import { TidegateError } from '../errors.ts'
import { dimensionValue } from '../http/dimension.ts'
import { type HitCounts, longestMs } from './hit-counts.ts'

/** A count, and the ms until it begins anew. */
export interface Standing {
  readonly current: number
  readonly ttl: number
}

/**
 * Hits of which each over the limit keeps its client out from then on: for the window anew (`renew`), or twice as long as the
 * one before (`double`).
 */
export class ExceedingHits {
  readonly #counts: HitCounts
  readonly #wait: 'renew' | 'double'

  constructor(counts: HitCounts, wait: 'renew' | 'double') {
    this.#counts = counts
    this.#wait = wait
  }

  async hit(key: string, windowMs: number, max: number): Promise<Standing> {
    const [within, over, counted] = [
      this.#counts.limiterOf(windowMs),
      this.#counts.exceedingOf(windowMs),
      dimensionValue(key),
    ]
    const decision = await within.limit(counted)
    const { used } = decision
    // A window that begins has forgotten who was over the one before.
    if (!isOut(decision) && used === 1) await unlessAway(over.reset(counted))
    if (!isOut(decision) && used <= max) return { current: used, ttl: decision.resetAfterMs as number }
    const times = (await over.limit(counted)).used
    const ttl = Math.min(this.#wait === 'renew' ? windowMs : windowMs * 2 ** (times - 1), longestMs(windowMs))
    // First the block: until it ends nothing can be admitted on what is given back then.
    await unlessAway(within.block(counted, ttl))
    if (!isOut(decision)) await unlessAway(within.refund(counted, { cost: used }))
    return { current: max + times, ttl }
  }

  async read(key: string, windowMs: number, max: number): Promise<Standing> {
    const counted = dimensionValue(key)
    const decision = await this.#counts.limiterOf(windowMs).peek(counted)
    if (!isOut(decision)) {
      const { used, resetAfterMs } = await this.#counts.limiterOf(windowMs).peek(counted, { cost: 0 })
      return { current: used, ttl: resetAfterMs as number }
    }
    const { used: times } = await this.#counts.exceedingOf(windowMs).peek(counted, { cost: 0 })
    return { current: max + times, ttl: decision.retryAfterMs as number }
  }
}

function isOut({ reason }: Decision): boolean {
  return reason === 'blocked'
}

/** What a store that is away does not do is done in this process alone, where hits are counted meanwhile. */
async function unlessAway(doing: Promise<unknown>): Promise<void> {
  try {
    await doing
  } catch (error) {
    if (!(error instanceof TidegateError) || error.code !== 'ERR_STORE_UNAVAILABLE') throw error
  }
}
