import type { BreakerEvent, BreakerState } from '../observer.ts'
import { OutcomeWindow } from './outcome-window.ts'

export interface BreakerSettings {
  /** So many failures in a row open it. */
  readonly failures: number
  /** So does this share of failures, 0 to 1, among the questions of the window, */
  readonly share: number
  /** ms, */
  readonly windowMs: number
  /** where there were at least so many of them. */
  readonly minimum: number
  /** The pause before the store is looked after for the first time, and the longest one. Each is twice the one before, ms. */
  readonly backoffMs: number
  readonly maxBackoffMs: number
}

/** The right to ask the store, which is given back with the outcome. */
export type Permit = number

/**
 * Circuit breaker (M. Nygard, Release It!, 2007): whether a store that fails is asked at all. Closed, it is. Open, nobody
 * waits for it; after a pause one probe looks after it, and pauses grow while that fails. After a probe that was answered it
 * is half-open: one question is asked in earnest, and its outcome closes or opens it.
 *
 * A state machine without a timer: whoever asks also says what time it is. Outcomes of questions that were asked before
 * it changed last mean nothing any more.
 */
export class Breaker {
  readonly #settings: BreakerSettings
  readonly #clock: () => number
  readonly #random: () => number
  readonly #onChange: (event: BreakerEvent) => void
  readonly #window: OutcomeWindow
  #state: BreakerState = 'closed'
  #permit: Permit = 0
  #isOut = false
  #inARow = 0
  #pauses = 0
  #retryAt = 0

  /**
   * @param clock ms, never going back
   * @param random from 0 to 1
   */
  constructor(
    settings: BreakerSettings,
    clock: () => number,
    random: () => number,
    onChange: (event: BreakerEvent) => void,
  ) {
    this.#settings = settings
    this.#clock = clock
    this.#random = random
    this.#onChange = onChange
    this.#window = new OutcomeWindow(settings.windowMs)
  }

  get state(): BreakerState {
    return this.#state
  }

  /** Ms until the store is looked after, of one that is open; else 0. */
  get retryInMs(): number {
    return this.#state === 'open' ? Math.max(0, this.#retryAt - this.#clock()) : 0
  }

  /** The right to ask; undefined where the store is not to be asked. Its outcome must be told. */
  ask(): Permit | undefined {
    if (this.#state === 'closed') return this.#permit
    if (this.#state === 'open' || this.#isOut) return undefined
    this.#isOut = true
    return this.#permit
  }

  /** The right to look after the store: one at a time, and only when the pause is over. Its outcome must be told. */
  probe(): Permit | undefined {
    if (this.#state !== 'open' || this.#isOut || this.#clock() < this.#retryAt) return undefined
    this.#isOut = true
    return this.#permit
  }

  succeed(permit: Permit): void {
    if (permit !== this.#permit) return
    if (this.#state === 'open') this.#become('half-open')
    else if (this.#state === 'half-open') {
      this.#pauses = 0
      this.#become('closed')
    } else {
      this.#inARow = 0
      this.#window.record(false, this.#clock())
    }
  }

  fail(permit: Permit): void {
    if (permit !== this.#permit) return
    const { failures, share, minimum } = this.#settings
    const window = this.#window
    this.#inARow++
    window.record(true, this.#clock())
    const isShare = window.asked >= minimum && window.failed >= share * window.asked
    if (this.#state !== 'closed' || this.#inARow >= failures || isShare) this.#open()
  }

  /** Somebody else has had an answer: an open one need not wait for its own probe. */
  heard(): void {
    if (this.#state === 'open') this.#become('half-open')
  }

  #open(): void {
    const { backoffMs, maxBackoffMs } = this.#settings
    const pause = Math.min(backoffMs * 2 ** this.#pauses, maxBackoffMs)
    // Half of it is left to chance, so that a fleet does not come back all at once.
    this.#retryAt = this.#clock() + pause * (0.5 + this.#random() / 2)
    if (pause < maxBackoffMs) this.#pauses++
    this.#become('open')
  }

  #become(to: BreakerState): void {
    const from = this.#state
    this.#state = to
    this.#permit++
    this.#isOut = false
    this.#inARow = 0
    this.#window.clear()
    // A probe that failed changes nothing that anybody would want to know.
    if (from !== to) this.#onChange({ from, to, retryInMs: this.retryInMs })
  }
}
