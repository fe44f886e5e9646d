import { Batcher, type BatcherOptions, overloaded } from './batcher.ts'
import { hashSlot } from './hash-slot.ts'
import { everyRequest } from './merging.ts'
import type { Pending } from './pending.ts'

export interface SlotBatcherOptions extends BatcherOptions {
  /** Whether a batch may only have requests for the same keys (`Connection.keysApart`). */
  readonly keysApart: boolean
}

/**
 * Batches for a cluster: one batcher for each slot that has been asked for, since one script call has its keys in
 * one slot. `maxPending` bounds the requests of all of them together.
 */
export class SlotBatcher {
  readonly #options: SlotBatcherOptions
  /** At most one for each of the 16,384 slots. */
  readonly #batchers = new Map<number, Batcher>()
  #requests = 0

  constructor(options: SlotBatcherOptions) {
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

  /** Sends what is queued: all of it, or for the slot of one key. */
  flush(key?: string): void {
    if (key === undefined) for (const batcher of this.#batchers.values()) batcher.flush()
    else this.#batchers.get(hashSlot(key))?.flush()
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
    const { send, keysApart } = this.#options
    if (keysApart) await Promise.all(byKeys(batch).map(send))
    else await send(batch)
    this.#requests -= everyRequest(batch).length
  }
}

/** The requests of a batch for the same keys, in their order. */
function byKeys(batch: readonly Pending[]): Pending[][] {
  const groups = new Map<string, Pending[]>()
  for (const pending of batch) {
    const keys = pending.keys.join('\n')
    const group = groups.get(keys)
    if (group === undefined) groups.set(keys, [pending])
    else group.push(pending)
  }
  return [...groups.values()]
}
