/** One question, and when nobody waits for its answer any more. */
export interface Deadline {
  /** By the monotonic clock, ms. */
  at: number
  /** Called at that time. @param lagMs how much later it is, because this process stood still or was busy */
  expire(lagMs: number): void
  /** Its neighbours in the line; itself where it is in none. */
  previous: Deadline
  next: Deadline
}

/**
 * The deadlines of all questions that are under way. All are as long as each other, so they end in the order in which they
 * began: one line, and one timer for its head, which costs less than half of a timer each. What is settled leaves the
 * line at once. The timer keeps no process alive.
 *
 * An answer that lies in the socket when the time is up is read first: where this process itself stood still, the store
 * is not to blame.
 */
export class Deadlines {
  readonly #ms: number
  readonly #clock: () => number
  /** Stands before the first and behind the last. */
  readonly #line: Deadline
  #isTimed = false

  /** @param clock ms, never going back */
  constructor(ms: number, clock: () => number) {
    this.#ms = ms
    this.#clock = clock
    const line = { at: 0, expire: () => undefined } as Partial<Deadline> as Deadline
    line.previous = line
    line.next = line
    this.#line = line
  }

  start(expire: (lagMs: number) => void): Deadline {
    const deadline = { at: 0, expire } as Partial<Deadline> as Deadline
    this.begin(deadline)
    return deadline
  }

  /** The same for a question that is its own deadline. */
  begin(deadline: Deadline): void {
    const line = this.#line
    const last = line.previous
    deadline.at = this.#clock() + this.#ms
    deadline.previous = last
    deadline.next = line
    last.next = deadline
    line.previous = deadline
    if (!this.#isTimed) this.#arm(this.#ms)
  }

  /** Its time does not matter any more. @returns false where it was over, or has been settled before */
  settle(deadline: Deadline): boolean {
    const { previous, next } = deadline
    if (next === deadline) return false
    previous.next = next
    next.previous = previous
    deadline.previous = deadline
    deadline.next = deadline
    return true
  }

  #arm(ms: number): void {
    this.#isTimed = true
    const timer: unknown = setTimeout(() => afterThisRound(() => this.#end()), ms)
    ;(timer as { unref?: () => void }).unref?.()
  }

  /** Ends what is over, and waits for the next that is not. */
  #end(): void {
    const now = this.#clock()
    const line = this.#line
    for (let first = line.next; first !== line && first.at <= now; first = line.next) {
      this.settle(first)
      first.expire(now - first.at)
    }
    if (line.next === line) this.#isTimed = false
    else this.#arm(Math.max(1, Math.ceil(line.next.at - now)))
  }
}

declare const setImmediate: ((callback: () => void) => void) | undefined

/** In Node what has arrived on sockets is read between a timer and this. */
const afterThisRound = (callback: () => void): void => {
  if (typeof setImmediate === 'function') setImmediate(callback)
  else callback()
}
