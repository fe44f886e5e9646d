import type { Decision } from '../decision.ts'
import { TidegateError } from '../errors.ts'
import type { Patience } from './acquire.ts'
import type { Question } from './question.ts'
import { WaitingLine } from './waiting-line.ts'

/** All who wait for one limiter or gate: a line for each set of counters, as long as somebody stands in it. */
export class WaitingLines {
  readonly #lines = new Map<string, WaitingLine>()
  readonly #maxWaiting: number
  #waiting = 0

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting
  }

  /** How many requests have a place in a line; one that is gone keeps it until the store's answer to it has come. */
  get waiting(): number {
    return this.#waiting
  }

  /** How many lines there are. */
  get size(): number {
    return this.#lines.size
  }

  /**
   * Waits in the line of this name until the request is admitted. A refusal (never, or not before the deadline) is a value.
   * @throws TidegateError (rejects) `ERR_TOO_MANY_WAITING`, and what the store throws; the signal's reason once it is aborted
   */
  wait(name: string, question: Question, patience: Patience): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const { signal } = patience
      if (signal?.aborted) return reject(signal.reason)
      if (this.#waiting >= this.#maxWaiting) {
        throw new TidegateError('ERR_TOO_MANY_WAITING', `${this.#maxWaiting} requests are waiting already`)
      }
      this.#waiting++
      this.#line(name).add(question, patience, { resolve, reject })
    })
  }

  /** Settles all who wait with this reason. */
  close(reason: unknown): void {
    for (const line of this.#lines.values()) line.close(reason)
  }

  #line(name: string): WaitingLine {
    const known = this.#lines.get(name)
    if (known !== undefined) return known
    const line = new WaitingLine({
      onLeave: () => this.#waiting--,
      onEnd: () => this.#lines.delete(name),
    })
    this.#lines.set(name, line)
    return line
  }
}
