import type { Decision } from '../decision.ts'
import type { Patience } from './acquire.ts'
import type { Question } from './question.ts'
import { startTimer } from './timer.ts'
import { type Outcome, Waiter } from './waiter.ts'

/** What a line tells the one who opened it. */
export interface LineEvents {
  /** A place has become free: its request has been settled, and nothing of it is under way. */
  onLeave(): void
  /** The counters have been given back something. */
  onGiveBack(): void
  /** Nobody waits, and nothing is under way. The line is of no further use. */
  onEnd(): void
}

/**
 * The requests that wait for the same counters, first come, first served. Only the head asks the store, and again when
 * the wait that it was told is over: whoever is behind is woken by the one before, never by a crowd's common timer.
 * So a request passes none that came before it, however much cheaper it is, and a costly one does not starve.
 */
export class WaitingLine {
  // Iterated while it changes: a Set visits what is added behind and passes over what has been deleted.
  readonly #waiting = new Set<Waiter>()
  readonly #unexamined = new Set<Waiter>()
  readonly #events: LineEvents
  #head: Waiter | undefined
  #refusal: Decision | undefined
  #wake: (() => void) | undefined
  #isOutdated = false

  constructor(events: LineEvents) {
    this.#events = events
  }

  get refusal(): Decision | undefined {
    return this.#refusal
  }

  add(question: Question, patience: Patience, outcome: Outcome): void {
    this.#join(new Waiter(question, patience, this, outcome))
  }

  /** Takes up one who has stood in another line. */
  takeUp(waiter: Waiter, question: Question): void {
    waiter.moveTo(this, question)
    this.#join(waiter)
  }

  /** Sends all away who still wait, in their order. What the head has asked is still answered; then the line ends. */
  disband(): Waiter[] {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    this.#unexamined.clear()
    this.wake()
    return waiting
  }

  #join(waiter: Waiter): void {
    this.#waiting.add(waiter)
    this.#unexamined.add(waiter)
    if (this.#head === undefined) void this.#serveAll()
    else if (this.#wake !== undefined) this.#examineNew()
  }

  leave(waiter: Waiter): void {
    this.#waiting.delete(waiter)
    this.#unexamined.delete(waiter)
    if (waiter === this.#head) this.#wake?.()
    else this.#events.onLeave()
  }

  /** Something has been given back: the head asks again, whatever wait it was told. */
  wake(): void {
    this.#isOutdated = true
    this.#wake?.()
  }

  /** Settles all who wait with this reason. */
  close(reason: unknown): void {
    for (const waiter of this.#waiting) waiter.fail(reason)
  }

  async #serveAll(): Promise<void> {
    for (const waiter of this.#waiting) {
      this.#head = waiter
      this.#unexamined.delete(waiter)
      await this.#serve(waiter)
      if (waiter.standsIn(this)) this.#events.onLeave()
    }
    this.#events.onEnd()
  }

  async #serve(waiter: Waiter): Promise<void> {
    while (this.#waiting.has(waiter)) {
      // What it has asked in another line is answered there.
      if (waiter.asking === undefined) await this.#ask(waiter)
      else await waiter.asking
    }
  }

  async #ask(waiter: Waiter): Promise<void> {
    const { question } = waiter
    try {
      this.#isOutdated = false
      const decision = await waiter.ask()
      // Whoever has gone while the store was asked spends nothing, and the next must find the counters without it.
      if (waiter.isSettled) return decision.allowed ? await this.#giveBack(question, decision) : undefined
      // A refusal by rules that are no more is none.
      if (decision.allowed || waiter.question === question) waiter.answer(decision)
      if (this.#waiting.has(waiter)) await this.#sleep(decision)
    } catch (error) {
      waiter.fail(error)
    }
  }

  async #giveBack(question: Question, admission: Decision): Promise<void> {
    await question.giveBack(admission)
    this.#events.onGiveBack()
  }

  /** Until the head's wait is over, or it has left. A timer that fires early costs one more question. */
  async #sleep(refusal: Decision): Promise<void> {
    this.#refusal = refusal
    // An answer can be overtaken by the news that something was given back.
    if (this.#isOutdated) return
    await new Promise<void>((resolve) => {
      const stopTimer = startTimer(Math.max(1, refusal.retryAfterMs ?? 1), resolve)
      this.#wake = () => {
        stopTimer()
        resolve()
      }
      this.#examineNew()
    })
    this.#wake = undefined
  }

  /**
   * Whoever can never be admitted, or not in time even if nobody stood before it, is told so at once. Only while the
   * head sleeps: a charge that is about to be given back must not count against anybody.
   */
  #examineNew(): void {
    for (const waiter of this.#unexamined) void this.#examine(waiter)
    this.#unexamined.clear()
  }

  async #examine(waiter: Waiter): Promise<void> {
    const { question } = waiter
    try {
      const decision = await question.ask('peek')
      if (!decision.allowed && waiter !== this.#head && waiter.question === question) waiter.answer(decision)
    } catch {
      // Whether the store is there matters when this one's turn comes.
    }
  }
}
