/** One question, and when nobody waits for its answer any more. */
export interface Deadline {
  /** By the monotonic clock, ms. */
  readonly at: number
  /** Called at that time; undefined once that does not matter any more. */
  expire: (() => void) | undefined
}

/** How many that are over stay in the queue until it is made shorter. */
const MOST_PASSED = 1024

/**
 * The deadlines of all questions that are under way. All are as long as each other, so they end in the order in which they
 * began: a queue, and one timer for its head, instead of a timer each. The timer keeps no process alive.
 *
 * An answer that lies in the socket when the time is up is read first: where this process itself stood still, the store
 * is not to blame.
 */
export class Deadlines {
  readonly #ms: number
  readonly #clock: () => number
  #queue: Deadline[] = []
  #first = 0
  #isTimed = false

  /** @param clock ms, never going back */
  constructor(ms: number, clock: () => number) {
    this.#ms = ms
    this.#clock = clock
  }

  start(expire: () => void): Deadline {
    const deadline: Deadline = { at: this.#clock() + this.#ms, expire }
    this.#queue.push(deadline)
    if (!this.#isTimed) this.#arm(this.#ms)
    return deadline
  }

  #arm(ms: number): void {
    this.#isTimed = true
    const timer: unknown = setTimeout(() => afterThisRound(() => this.#end()), ms)
    ;(timer as { unref?: () => void }).unref?.()
  }

  /** Ends what is over, and waits for the next that is not. */
  #end(): void {
    const now = this.#clock()
    this.#isTimed = false
    const queue = this.#queue
    let first = this.#first
    for (; first < queue.length; first++) {
      const deadline = queue[first] as Deadline
      if (deadline.expire === undefined) continue
      if (deadline.at > now) break
      deadline.expire()
      deadline.expire = undefined
    }
    // What was added meanwhile may have started the timer already.
    this.#first = first
    this.#shorten()
    const next = this.#queue[this.#first]
    if (next !== undefined && !this.#isTimed) this.#arm(Math.max(1, Math.ceil(next.at - now)))
  }

  #shorten(): void {
    if (this.#first < this.#queue.length && this.#first < MOST_PASSED) return
    this.#queue = this.#queue.slice(this.#first)
    this.#first = 0
  }
}

declare const setImmediate: ((callback: () => void) => void) | undefined

/** In Node what has arrived on sockets is read between a timer and this. */
const afterThisRound = (callback: () => void): void => {
  if (typeof setImmediate === 'function') setImmediate(callback)
  else callback()
}
