import { TidegateError } from '../errors.ts'
import type { DecisionEvent, FallbackCause, Observer } from '../observer.ts'
import { checkInteger } from '../options.ts'

/** What a rule has said of a request: one in shadow that would have refused it has `shadowed` it. */
export type Outcome = 'allowed' | 'refused' | 'shadowed'

/** What a decision is counted by. All three are names of the configuration and of this code, never of a client. */
export interface DecisionLabels {
  /** The rule that decided. `none`: no rule matched. `other`: there are more names than are told apart. */
  readonly rule: string
  readonly outcome: Outcome
  readonly source: string
}

/** Every cause, so that each series is there before it is first needed. */
export const CAUSES: readonly FallbackCause[] = ['deadline', 'breaker', 'error', 'overload']

/** Seconds. A decision in memory takes microseconds, one of Redis about a millisecond. */
export const BUCKETS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1,
]

/** Keys in a call of Redis. */
export const KEY_BUCKETS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

/** An observer that keeps metrics. What was refused in this process is among the decisions, by its source. */
export type MetricsObserver = Required<Omit<Observer, 'refusedHere'>>

/** How many names of rules are told apart where nothing else is said. */
const MOST_RULES = 1000

/** Counts a request by the rule that decided, and besides by each rule in shadow that would have refused it. */
export class DecisionCounts {
  readonly #names = new Set<string>()
  readonly #maxRules: number
  readonly #count: (labels: DecisionLabels) => void

  /** @throws TidegateError `ERR_INVALID_OPTION` */
  constructor(maxRules: unknown, count: (labels: DecisionLabels) => void) {
    this.#maxRules = checkInteger(maxRules ?? MOST_RULES, 'maxRules', 1, 1_000_000)
    this.#count = count
  }

  add({ decision }: DecisionEvent): void {
    const { rule, allowed, source, rules } = decision
    this.#count({ rule: rule === null ? 'none' : this.named(rule), outcome: allowed ? 'allowed' : 'refused', source })
    for (const figures of rules) {
      if (figures.shadow === true && !figures.allowed) {
        this.#count({ rule: this.named(figures.rule), outcome: 'shadowed', source })
      }
    }
  }

  /** Its name among the labels: rules come and go while a process runs; the names of its metrics only come. */
  named(rule: string): string {
    if (this.#names.has(rule)) return rule
    if (this.#names.size >= this.#maxRules) return 'other'
    this.#names.add(rule)
    return rule
  }
}

/** The code of an error of this library; of any other that it is none. */
export function codeOf(error: unknown): string {
  return error instanceof TidegateError ? error.code : 'ERR_INTERNAL'
}
