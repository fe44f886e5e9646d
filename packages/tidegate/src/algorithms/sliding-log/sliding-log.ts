import type { Admission, Entry } from '../../admission.ts'
import { admitted, type RuleDecision, refused } from '../../decision.ts'
import type { Quota } from '../../quota.ts'
import { type Algorithm, UNTOUCHED } from '../algorithm.ts'
import { AdmissionLog } from './admission-log.ts'

const EMPTY = new AdmissionLog()

/**
 * The exact sliding window with every admission kept by itself: the decisions of `SlidingWindow` to the millisecond, and
 * a list of who was admitted when. An admission at s counts while t < s + window.
 */
export class SlidingLog implements Algorithm {
  readonly #logs: AdmissionLog[] = []
  readonly #free: number[] = []

  open(): number {
    const state = this.#free.pop() ?? this.#logs.length
    this.#logs[state] = new AdmissionLog()
    return state
  }

  release(state: number): void {
    this.#logs[state] = EMPTY
    this.#free.push(state)
  }

  evaluate(state: number, quota: Quota, cost: number, clock: number): RuleDecision {
    const { limit, spanMs } = quota
    const log = this.#logOf(state)
    const { newest } = log
    const cameRight = newest - clock > spanMs
    const at = cameRight ? clock : Math.max(newest, clock)
    const first = log.firstAfter(Math.max(newest, clock) - spanMs)
    const used = log.costFrom(first)
    const reset = used === 0 ? 0 : (cameRight ? clock : newest) + spanMs - clock
    if (used + cost <= limit) return admitted(quota, used + cost, cost === 0 ? reset : at + spanMs - clock, at)
    if (cost > limit) return refused(quota, cost, used, null, reset, at)
    const freed = cameRight ? clock : log.timeAt(log.firstFreeing(first, used + cost - limit))
    return refused(quota, cost, used, freed + spanMs - clock, reset, at)
  }

  commit(state: number, { spanMs }: Quota, cost: number, at: number, id = ''): void {
    const log = this.#logOf(state)
    this.#settle(log, spanMs, at)
    if (cost > 0) log.push(at, id, cost)
  }

  unsettled(state: number, at: number): boolean {
    return at < this.#logOf(state).newest
  }

  idle(state: number, { spanMs }: Quota, clock: number): boolean {
    return this.#logOf(state).newest <= clock - spanMs
  }

  refund(state: number, { spanMs }: Quota, cost: number, clock: number, of: Admission | undefined): number {
    const log = this.#logOf(state)
    const first = log.firstAfter(Math.max(log.newest, clock) - spanMs)
    const place = of === undefined ? 0 : this.#find(log, first, clock, spanMs, of)
    // Nothing is written before it is known that there is something to give back.
    if (cost === 0 || place < 0 || first + place >= log.end) return 0
    this.#settle(log, spanMs, clock)
    return of === undefined ? log.takeOldest(cost) : log.take(log.head + place, cost)
  }

  entries(state: number, { spanMs }: Quota, clock: number): Entry[] {
    const log = this.#logOf(state)
    const cameRight = log.newest - clock > spanMs
    const entries = log.entriesFrom(log.firstAfter(Math.max(log.newest, clock) - spanMs))
    return cameRight ? entries.map((entry) => ({ ...entry, at: clock })) : entries
  }

  /** Where the admission stands among the live ones, counted from 0; -1 where it is not among them. */
  #find(log: AdmissionLog, first: number, clock: number, spanMs: number, { at, id }: Admission): number {
    const cameRight = log.newest - clock > spanMs
    if (cameRight && at !== undefined && at !== clock) return -1
    const time = cameRight ? undefined : at
    const from = time === undefined ? first : Math.max(first, log.firstAfter(time - 1))
    for (let i = from; i < log.end && (time === undefined || log.timeAt(i) === time); i++) {
      if (log.idAt(i) === id) return i - first
    }
    return -1
  }

  /** Forgets what has expired. Where the clock came right after having been far ahead, what is live counts as made now. */
  #settle(log: AdmissionLog, spanMs: number, clock: number): void {
    const cameRight = log.newest - clock > spanMs
    log.dropBefore(log.firstAfter(Math.max(log.newest, clock) - spanMs))
    if (cameRight) log.moveTo(clock)
  }

  #logOf(state: number): AdmissionLog {
    return state === UNTOUCHED ? EMPTY : (this.#logs[state] as AdmissionLog)
  }
}
