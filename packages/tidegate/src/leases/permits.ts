import { admitted, type RuleDecision } from '../decision.ts'
import type { Rule } from '../rule.ts'

/** Permits that were taken from the store in one step. */
export interface Batch {
  /** The store's time of their charge, ms since the epoch. */
  readonly at: number
  /** They can be used before this, by the monotonic clock, ms. */
  until: number
  /** How many there were, without those that were given back to the store. */
  taken: number
  /** How much of the key was used before them, at least; a token bucket gives back more exactly with it. */
  readonly usedBefore: number
  left: number
  /** Nothing can be put back into it any more. */
  isOver: boolean
}

/** What the store has said of a key when it was last asked. Times by the monotonic clock, ms. */
interface Known {
  /** With all permits of this process. */
  used: number
  /** When the key is as if untouched. */
  resetAt: number
}

/** The permits of one key that this process holds, oldest first. */
export class Permits {
  readonly #rule: Rule
  readonly #batches: Batch[] = []
  readonly #known: Known = { used: 0, resetAt: 0 }
  /** Those that can still be used, or were when it was last looked. */
  held = 0
  /** How many have been used since the latest batch was asked for, and when the last one was. */
  usedSince = 0
  lastUse = 0

  /** @param rule as the store counts by it */
  constructor(rule: Rule) {
    this.#rule = rule
  }

  get batches(): readonly Batch[] {
    return this.#batches
  }

  /** What the store has left, as far as is known. */
  get remaining(): number {
    return Math.max(0, this.#rule.limit - this.#known.used)
  }

  /** What the store has answered to a question that was sent at `sent`. */
  learn({ used, resetAfterMs }: RuleDecision, sent: number): void {
    this.#known.used = used
    this.#known.resetAt = sent + (resetAfterMs ?? 0)
  }

  add(batch: Batch): void {
    this.#batches.push(batch)
    this.held += batch.left
  }

  /** Uses `cost` of the oldest batch, where that has as many; most often it has. */
  use(cost: number, now: number): Batch | undefined {
    const batch = this.#batches[0]
    if (batch === undefined || batch.left < cost || batch.until <= now) return undefined
    batch.left -= cost
    this.held -= cost
    this.usedSince += cost
    this.lastUse = now
    return batch
  }

  /**
   * The same of several batches; none of them is over. It then stands for one use of the oldest: that counts no longer
   * than the others, and what is given back of it is given back there.
   */
  useSeveral(cost: number, now: number): Batch | undefined {
    if (this.held < cost) return undefined
    let [wanted, first] = [cost, undefined as Batch | undefined]
    for (const batch of this.#batches) {
      const part = Math.min(wanted, batch.left)
      if (part === 0) continue
      first ??= batch
      batch.left -= part
      wanted -= part
      if (wanted === 0) break
    }
    this.held -= cost
    this.usedSince += cost
    this.lastUse = now
    return first
  }

  /** Puts back what was used of a batch. @returns how much, which is 0 where it is over */
  putBack(batch: Batch, cost: number): number {
    if (batch.isOver) return 0
    const put = Math.min(cost, batch.taken - batch.left)
    batch.left += put
    this.held += put
    this.usedSince = Math.max(0, this.usedSince - put)
    return put
  }

  /** Lets go of the batches that are over or used up. @returns those that have something left */
  endBatches(now: number): readonly Batch[] {
    let ended: Batch[] | undefined
    while (this.#batches.length > 0) {
      const [batch] = this.#batches as [Batch]
      // One that is used up stays as long as it is the only one, for what is put back.
      if (batch.until > now && (batch.left > 0 || this.#batches.length === 1)) break
      this.#batches.shift()
      batch.isOver = true
      this.held -= batch.left
      ended = [...(ended ?? []), batch]
    }
    return ended ?? NONE
  }

  /** Lets go of all of them. */
  endAll(): readonly Batch[] {
    return this.endBatches(Number.POSITIVE_INFINITY)
  }

  /** Takes up to so many permits out, of the newest batch first, as if they had not been taken from the store. */
  takeOut(most: number): { readonly batch: Batch; readonly permits: number }[] {
    const out: { batch: Batch; permits: number }[] = []
    for (let i = this.#batches.length - 1, wanted = most; i >= 0 && wanted > 0; i--) {
      const batch = this.#batches[i] as Batch
      const permits = Math.min(wanted, batch.left)
      if (permits === 0) continue
      batch.left -= permits
      batch.taken -= permits
      this.held -= permits
      this.#known.used = Math.max(0, this.#known.used - permits)
      wanted -= permits
      out.push({ batch, permits })
    }
    return out
  }

  /** The figures of the key as it stands, or of an admission from a batch. */
  figures(now: number, at: number): RuleDecision {
    const used = Math.max(0, this.#known.used - this.held)
    return admitted(this.#rule, used, Math.max(0, Math.ceil(this.#known.resetAt - now)), at)
  }
}

const NONE: readonly Batch[] = []
