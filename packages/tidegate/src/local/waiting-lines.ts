import type { Decision } from '../decision.ts'
import { TidegateError } from '../errors.ts'
import type { Patience } from './acquire.ts'
import type { Question } from './question.ts'
import { WaitingLine } from './waiting-line.ts'

/**
 * All who wait for one limiter or gate: a line for each set of counters that requests are decided by, as long as
 * somebody stands in it.
 */
export class WaitingLines {
  readonly #lines = new Map<string, WaitingLine>()
  readonly #linesAt = new Map<string, Set<WaitingLine>>()
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
   * Waits behind those who wait for the same counters, until the request is admitted or refused: never, or not before
   * its deadline. Rejects with the signal's reason once that is aborted.
   * @throws TidegateError (rejects) `ERR_TOO_MANY_WAITING`, `ERR_STORE_…`, `ERR_STATE_…`
   */
  wait(question: Question, patience: Patience): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const { signal } = patience
      if (signal?.aborted) return reject(signal.reason)
      if (this.#waiting >= this.#maxWaiting) {
        throw new TidegateError('ERR_TOO_MANY_WAITING', `${this.#maxWaiting} requests are waiting already`)
      }
      this.#waiting++
      this.#lineFor(question).add(question, patience, { resolve, reject })
    })
  }

  /** Something has been given back to these counters: whoever is first in a line for one of them asks again. */
  wake(counters: readonly string[]): void {
    for (const counter of counters) for (const line of this.#linesAt.get(counter) ?? []) line.wake()
  }

  /** The rules have changed: all who wait ask again by the new ones, in the order in which they came. */
  renew(): void {
    const waiting = [...this.#lines.values()].flatMap((line) => line.disband())
    this.#lines.clear()
    this.#linesAt.clear()
    waiting.sort((one, other) => one.arrival - other.arrival)
    for (const waiter of waiting) {
      try {
        const question = waiter.question.renewed?.() ?? waiter.question
        this.#lineFor(question).takeUp(waiter, question)
      } catch (error) {
        waiter.fail(error)
      }
    }
  }

  /** Settles all who wait with this reason. */
  close(reason: unknown): void {
    for (const line of this.#lines.values()) line.close(reason)
  }

  #lineFor({ counters }: Question): WaitingLine {
    const name = JSON.stringify(counters)
    const known = this.#lines.get(name)
    if (known !== undefined) return known
    const line = new WaitingLine({
      onLeave: () => this.#waiting--,
      onGiveBack: () => this.wake(counters),
      onEnd: () => this.#remove(name, line, counters),
    })
    this.#lines.set(name, line)
    for (const counter of counters) this.#linesAt.set(counter, (this.#linesAt.get(counter) ?? new Set()).add(line))
    return line
  }

  #remove(name: string, line: WaitingLine, counters: readonly string[]): void {
    // Another may stand in its place by now.
    if (this.#lines.get(name) === line) this.#lines.delete(name)
    for (const counter of counters) {
      const lines = this.#linesAt.get(counter)
      lines?.delete(line)
      if (lines?.size === 0) this.#linesAt.delete(counter)
    }
  }
}
