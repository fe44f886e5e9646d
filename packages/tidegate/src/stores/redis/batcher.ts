import { TidegateError } from '../../errors.ts'
import type { Pending } from './batch.ts'

export interface BatcherOptions {
  /** Sends one batch; settles its requests itself, and resolves in any case. */
  readonly send: (batch: Pending[]) => Promise<void>
  /** The most keys in one batch. */
  readonly maxBatch: number
  /** The most requests that may wait for an answer. */
  readonly maxPending: number
}

/**
 * Joins the requests of one turn, or one round, of the event loop into batches. With nothing in flight a request
 * leaves at once, as a batch of one: waiting for company would only cost it time. A batch that is
 * full leaves at once too, so that client and server work at the same time.
 */
export class Batcher {
  readonly #options: BatcherOptions
  #queue: Pending[] = []
  #queuedKeys = 0
  #batches = 0
  #requests = 0
  #scheduled = false

  constructor(options: BatcherOptions) {
    this.#options = options
  }

  /** @throws TidegateError `ERR_STORE_OVERLOADED` */
  add(pending: Pending): void {
    const { maxBatch, maxPending } = this.#options
    if (this.#requests >= maxPending) throw overloaded(maxPending)
    // What would not fit goes in a batch of its own. Only a request with more keys than a batch may have makes a larger one.
    if (this.#queuedKeys + pending.keys.length > maxBatch) this.flush()
    this.#requests++
    this.#queue.push(pending)
    this.#queuedKeys += pending.keys.length
    if (this.#batches === 0 || this.#queuedKeys >= maxBatch) this.flush()
    else this.#schedule()
  }

  /** Sends what is queued, whatever it is for. */
  flush(_key?: string): void {
    const batch = this.#queue
    if (batch.length === 0) return
    this.#queue = []
    this.#queuedKeys = 0
    this.#batches++
    void this.#options.send(batch).then(() => {
      this.#batches--
      this.#requests -= batch.length
    })
  }

  /**
   * A turn that has gathered several requests (an answer arrived, and many went on) leaves when it ends.
   * A few wait for the sockets that are read in the same round of the event loop: in a service every
   * request is a turn of its own.
   */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    afterThisTurn(() => {
      if (this.#queuedKeys >= SEVERAL) this.#leave()
      else afterThisRound(() => this.#leave())
    })
  }

  #leave(): void {
    this.#scheduled = false
    this.flush()
  }
}

export function overloaded(maxPending: number): TidegateError {
  return new TidegateError('ERR_STORE_OVERLOADED', `Redis: ${maxPending} decisions are waiting for an answer already`)
}

/** From this many keys on a batch is worth its own way. */
const SEVERAL = 8

declare const process: { nextTick?: (callback: () => void) => void } | undefined
declare const setImmediate: ((callback: () => void) => void) | undefined

/** In Node a tick runs after all promise reactions of the turn and so gathers more than a microtask. */
const afterThisTurn = (typeof process === 'object' ? process.nextTick : undefined) ?? queueMicrotask

const afterThisRound = typeof setImmediate === 'function' ? setImmediate : queueMicrotask
