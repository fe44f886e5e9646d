import { TidegateError } from '../../errors.ts'
import { Merging } from './merging.ts'
import type { Pending } from './pending.ts'

export interface BatcherOptions {
  /** Sends one batch; settles its requests itself, and resolves in any case. */
  readonly send: (batch: Pending[]) => Promise<void>
  /** The most keys in one batch; those of equal requests count once. */
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
  readonly #merging = new Merging()
  #queue: Pending[] = []
  #queuedKeys = 0
  #queuedRequests = 0
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
    this.#requests++
    if (!this.#merging.join(pending)) this.#queueApart(pending)
    this.#queuedRequests++
    if (this.#batches === 0 || this.#queuedKeys >= maxBatch || this.#queuedRequests >= MOST_REQUESTS) this.flush()
    else this.#schedule()
  }

  #queueApart(pending: Pending): void {
    const keys = pending.keys.length
    // What would not fit goes in a batch of its own. Only a request with more keys than a batch may have makes a larger one.
    if (this.#queuedKeys + keys > this.#options.maxBatch && this.#queue.length > 0) {
      this.flush()
      this.#merging.join(pending)
    }
    this.#queue.push(pending)
    this.#queuedKeys += keys
  }

  /** Sends what is queued, whatever it is for. */
  flush(_key?: string): void {
    const batch = this.#queue
    const requests = this.#queuedRequests
    if (requests === 0) return
    this.#queue = []
    this.#queuedKeys = 0
    this.#queuedRequests = 0
    this.#merging.clear()
    this.#batches++
    void this.#options.send(batch).then(() => {
      this.#batches--
      this.#requests -= requests
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
      if (this.#queuedRequests >= SEVERAL) this.#leave()
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

/** From this many requests on a batch is worth its own way. */
const SEVERAL = 8

/** A batch of more requests than this, all of them equal to a few, is sent as it is. */
const MOST_REQUESTS = 1024

declare const process: { nextTick?: (callback: () => void) => void } | undefined
declare const setImmediate: ((callback: () => void) => void) | undefined

/** In Node a tick runs after all promise reactions of the turn and so gathers more than a microtask. */
const afterThisTurn = (typeof process === 'object' ? process.nextTick : undefined) ?? queueMicrotask

const afterThisRound = typeof setImmediate === 'function' ? setImmediate : queueMicrotask
