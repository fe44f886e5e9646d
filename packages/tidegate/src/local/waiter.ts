import type { Decision } from '../decision.ts'
import { TidegateError } from '../errors.ts'
import type { Patience } from './acquire.ts'
import { onAbort } from './on-abort.ts'
import type { Question } from './question.ts'
import { startTimer } from './timer.ts'

/** What a waiter knows of the line it stands in. */
interface Line {
  /** The latest refusal that made the head of the line wait. */
  readonly refusal: Decision | undefined
  /** Told once, when the waiter has been settled. */
  leave(waiter: Waiter): void
}

/** The two ends of the promise that a waiter was given. */
export interface Outcome {
  resolve(decision: Decision): void
  reject(reason: unknown): void
}

let arrivals = 0

/** One request that waits; settled once, by an answer, an error, its deadline, its signal or the end of the line. */
export class Waiter {
  /** Its place among all who have ever waited: those who came before have a lower one. */
  readonly arrival = arrivals++
  #question: Question
  #line: Line
  #asking: Promise<void> | undefined
  #earlierRefusal: Decision | undefined
  readonly #outcome: Outcome
  readonly #timeoutMs: number
  readonly #deadline: number
  readonly #stopTimer: () => void
  readonly #stopListening: (() => void) | undefined
  #isSettled = false

  constructor(question: Question, patience: Patience, line: Line, outcome: Outcome) {
    this.#question = question
    this.#line = line
    this.#outcome = outcome
    const { timeoutMs, signal } = patience
    this.#timeoutMs = timeoutMs
    // A wall clock can step; the deadline must not.
    this.#deadline = performance.now() + timeoutMs
    this.#stopTimer = startTimer(timeoutMs, () => this.#expire())
    this.#stopListening = signal && onAbort(signal, () => this.fail(signal.reason))
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  get question(): Question {
    return this.#question
  }

  standsIn(line: Line): boolean {
    return this.#line === line
  }

  /** Goes on in another line, with another question. */
  moveTo(line: Line, question: Question): void {
    this.#earlierRefusal = this.#line.refusal ?? this.#earlierRefusal
    this.#line = line
    this.#question = question
  }

  /** Resolves when what it has asked is answered; undefined where it has not asked. */
  get asking(): Promise<void> | undefined {
    return this.#asking
  }

  /** Asks the store to admit it. */
  ask(): Promise<Decision> {
    const answer = this.#question.ask('consume')
    const end = () => {
      this.#asking = undefined
    }
    this.#asking = answer.then(end, end)
    return answer
  }

  /** Takes an answer. A refusal settles it only where it can no longer be admitted before the deadline. */
  answer(decision: Decision): void {
    const isFinal = decision.allowed || this.question.leastWaitMs(decision) >= this.#deadline - performance.now()
    if (isFinal) this.#settle(() => this.#outcome.resolve(decision))
  }

  fail(reason: unknown): void {
    this.#settle(() => this.#outcome.reject(reason))
  }

  /** The deadline is over: the refusal is the latest that the line has met with. */
  #expire(): void {
    const refusal = this.#line.refusal ?? this.#earlierRefusal
    if (refusal !== undefined) {
      const { id } = this.question
      this.#settle(() => this.#outcome.resolve({ ...refusal, id }))
    } else {
      const message = `the store has not come to this request in ${this.#timeoutMs} ms, nor refused one before it`
      this.fail(new TidegateError('ERR_STORE_UNAVAILABLE', message))
    }
  }

  #settle(tell: () => void): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#stopTimer()
    this.#stopListening?.()
    tell()
    this.#line.leave(this)
  }
}
