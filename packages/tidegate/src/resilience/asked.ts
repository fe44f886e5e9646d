import type { RuleDecision } from '../decision.ts'
import type { Check, Mode, Reserve, Waiter } from '../stores/store.ts'
import type { Permit } from './breaker.ts'
import type { Deadline } from './deadlines.ts'

/** What is asked of a store: whether these checks are admitted, or can be reserved. */
export interface Asking {
  readonly checks: readonly Check[]
  readonly mode: Mode
  /** How long the reservation lives, ms; undefined where nothing is reserved: then the checks have no need of ids. */
  readonly expiresInMs: number | undefined
}

/** Asks one store. */
export function askOf<Decided, Reserved>(asker: Asker<Decided, Reserved>, asking: Asking, until?: number) {
  const { checks, mode, expiresInMs } = asking
  if (expiresInMs === undefined) return asker.decide(checks, mode, until)
  return asker.reserve(checks as readonly Reserve[], expiresInMs, until)
}

interface Asker<Decided, Reserved> {
  decide(checks: readonly Check[], mode: Mode, until?: number): Decided
  reserve(checks: readonly Reserve[], expiresInMs: number, until?: number): Reserved
}

/** What comes of a question. */
export interface Outcomes {
  answered(asked: Asked, figures: RuleDecision[]): void
  failed(asked: Asked, error: unknown): void
  expired(asked: Asked, lagMs: number): void
}

/** A question that is under way: the store tells it the answer, and its deadline that there will be none. */
export class Asked implements Asking, Deadline, Waiter {
  readonly permit: Permit
  readonly checks: readonly Check[]
  readonly mode: Mode
  readonly expiresInMs: number | undefined
  /** Tell whoever asked. */
  readonly give: (figures: RuleDecision[] | Promise<RuleDecision[]>) => void
  readonly refuse: (error: unknown) => void
  at = 0
  previous: Deadline = this
  next: Deadline = this
  readonly #outcomes: Outcomes

  constructor(
    permit: Permit,
    { checks, mode, expiresInMs }: Asking,
    give: (figures: RuleDecision[] | Promise<RuleDecision[]>) => void,
    refuse: (error: unknown) => void,
    outcomes: Outcomes,
  ) {
    this.permit = permit
    this.checks = checks
    this.mode = mode
    this.expiresInMs = expiresInMs
    this.give = give
    this.refuse = refuse
    this.#outcomes = outcomes
  }

  resolve(figures: RuleDecision[]): void {
    this.#outcomes.answered(this, figures)
  }

  reject(error: unknown): void {
    this.#outcomes.failed(this, error)
  }

  expire(lagMs: number): void {
    this.#outcomes.expired(this, lagMs)
  }
}
