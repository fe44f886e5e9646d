import { monotonicClock } from '../clock.ts'
import { Deadlines } from './deadlines.ts'
import { noAnswer } from './failure.ts'

/** Ends questions after so many ms, whatever becomes of them then. */
export class TimeLimit {
  readonly #ms: number
  readonly #deadlines: Deadlines

  constructor(ms: number) {
    this.#ms = ms
    this.#deadlines = new Deadlines(ms, monotonicClock)
  }

  /** @throws TidegateError (rejects) `ERR_STORE_UNAVAILABLE` when the time is up */
  run<Result>(ask: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const deadline = this.#deadlines.start(() => reject(noAnswer(this.#ms)))
      const settle = <Value>(how: (value: Value) => void) => {
        return (value: Value) => {
          this.#deadlines.settle(deadline)
          how(value)
        }
      }
      ask().then(settle(resolve), settle(reject))
    })
  }
}
