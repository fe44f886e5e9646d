import type { Pending } from './batch.ts'
import { Batcher, type BatcherOptions, overloaded } from './batcher.ts'
import { hashSlot } from './hash-slot.ts'

/**
 * Batches for a cluster: one batcher for each slot that has been asked for, since one script call has its keys in
 * one slot. `maxPending` bounds the requests of all of them together.
 */
export class SlotBatcher {
  readonly #options: BatcherOptions
  /** At most one for each of the 16,384 slots. */
  readonly #batchers = new Map<number, Batcher>()
  #requests = 0

  constructor(options: BatcherOptions) {
    this.#options = options
  }

  /**
   * @param pending its keys lie in one slot
   * @throws TidegateError `ERR_STORE_OVERLOADED`
   */
  add(pending: Pending): void {
    if (this.#requests >= this.#options.maxPending) throw overloaded(this.#options.maxPending)
    this.#requests++
    this.#of(hashSlot(pending.keys[0] as string)).add(pending)
  }

  /** Sends what is queued. */
  flush(): void {
    for (const batcher of this.#batchers.values()) batcher.flush()
  }

  #of(slot: number): Batcher {
    let batcher = this.#batchers.get(slot)
    if (batcher === undefined) {
      batcher = new Batcher({ ...this.#options, send: (batch) => this.#send(batch) })
      this.#batchers.set(slot, batcher)
    }
    return batcher
  }

  async #send(batch: Pending[]): Promise<void> {
    await this.#options.send(batch)
    this.#requests -= batch.length
  }
}
