import type { RuleDecision } from 'tidegate'
import type { Mode } from 'tidegate/store'

/** What the oracle needs to know of one limit of a request. */
export interface OracleCheck {
  /** Names the counter. */
  readonly counter: string
  readonly limit: number
  readonly windowMs: number
  readonly cost: number
}

/** What the oracle says of one limit of a request. */
export type Verdict = Pick<RuleDecision, 'allowed' | 'used' | 'retryAfterMs' | 'resetAfterMs' | 'at'>

interface Admission {
  readonly at: number
  readonly cost: number
}

/**
 * The sliding window by brute force, straight from its definition: every admission is remembered by
 * itself and counted again for each decision. Slow, and too simple to be wrong in the same way.
 */
export class SlidingWindowOracle {
  readonly #admissions = new Map<string, readonly Admission[]>()

  decide(checks: readonly OracleCheck[], mode: Mode, clock: number): Verdict[] {
    const admitted = checks.every((check) => this.#admits(check, clock))
    const writes = mode === 'consume'
    if (writes) for (const check of checks) if (check.cost > 0) this.#comeRight(check, clock)
    return checks.map((check) => {
      const charged = admitted ? check.cost : 0
      const verdict = this.#verdict(check, charged, clock)
      if (writes && charged > 0) this.#admit(check, charged, clock)
      return verdict
    })
  }

  reset(counter: string): void {
    this.#admissions.delete(counter)
  }

  #admits(check: OracleCheck, clock: number): boolean {
    return this.#used(check, clock) + check.cost <= check.limit
  }

  #verdict(check: OracleCheck, charged: number, clock: number): Verdict {
    const { limit, windowMs, cost } = check
    const at = this.#time(check, clock)
    const before = this.#used(check, clock)
    const newest =
      charged > 0 ? at : before > 0 ? Math.max(...this.#live(check, clock).map((one) => one.at)) : undefined
    const resetAfterMs = newest === undefined ? 0 : newest + windowMs - clock
    const used = before + charged
    if (this.#admits(check, clock)) return { allowed: true, used, retryAfterMs: 0, resetAfterMs, at }
    return { allowed: false, used, retryAfterMs: cost > limit ? null : this.#wait(check, clock), resetAfterMs, at }
  }

  /** The smallest wait after which the same request is admitted, found among the ends of all admissions. */
  #wait(check: OracleCheck, clock: number): number {
    const ends = this.#live(check, clock).map(({ at }) => at + check.windowMs)
    const waits = [...new Set(ends)].sort((a, b) => a - b).map((end) => end - clock)
    const enough = (wait: number) => {
      const live = this.#live(check, clock).filter(({ at }) => at + check.windowMs > clock + wait)
      return sum(live) + check.cost <= check.limit
    }
    return waits.find(enough) as number
  }

  /** The time of the decision: never before the newest admission, unless that is over a window ahead. */
  #time({ counter, windowMs }: Pick<OracleCheck, 'counter' | 'windowMs'>, clock: number): number {
    const newest = Math.max(-1, ...this.#of(counter).map(({ at }) => at))
    return newest - clock > windowMs ? clock : Math.max(newest, clock)
  }

  #used(check: OracleCheck, clock: number): number {
    return sum(this.#live(check, clock))
  }

  /** The admissions that count, as they count: where the clock came right, those live at the newest count as made now. */
  #live({ counter, windowMs }: OracleCheck, clock: number): readonly Admission[] {
    const all = this.#of(counter)
    const newest = Math.max(-1, ...all.map(({ at }) => at))
    if (newest - clock <= windowMs) return all.filter(({ at }) => Math.max(newest, clock) < at + windowMs)
    return all.filter(({ at }) => newest < at + windowMs).map(({ cost }) => ({ at: clock, cost }))
  }

  #admit({ counter, windowMs }: OracleCheck, cost: number, clock: number): void {
    const at = this.#time({ counter, windowMs }, clock)
    // No decision is made before the newest admission: what ended by then never counts again.
    const counting = this.#of(counter).filter((one) => at < one.at + windowMs)
    this.#admissions.set(counter, [...counting, { at, cost }])
  }

  #comeRight(check: OracleCheck, clock: number): void {
    const newest = Math.max(-1, ...this.#of(check.counter).map(({ at }) => at))
    if (newest - clock > check.windowMs) this.#admissions.set(check.counter, this.#live(check, clock))
  }

  #of(counter: string): readonly Admission[] {
    return this.#admissions.get(counter) ?? []
  }
}

function sum(admissions: readonly Admission[]): number {
  return admissions.reduce((total, { cost }) => total + cost, 0)
}
