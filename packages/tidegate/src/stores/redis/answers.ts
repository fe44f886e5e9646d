import { admitted, heldBefore, type RuleDecision, refused } from '../../decision.ts'
import type { Rule } from '../../rule.ts'
import { knownReset } from './quotas.ts'
import { unexpectedReply } from './state-error.ts'

const HELD = 0
const ADMITTED = 1
const BLOCKED = 3

/** Reads the flat reply of the `decide` script from front to back. */
export class Answers {
  readonly #values: readonly unknown[]
  readonly time: number
  #position = 0

  /** @throws TidegateError `ERR_CLIENT_UNSUPPORTED` where the client has changed the reply */
  constructor(reply: unknown) {
    if (!Array.isArray(reply)) throw unexpectedReply(reply)
    this.#values = reply
    this.time = this.#number()
  }

  /** The figures of the next check, or the text of its error. */
  next(rule: Rule, cost: number): RuleDecision | string {
    const first = this.#values[this.#position++]
    if (typeof first !== 'number') return String(first)
    if (first >= 0) return admitted(rule, first, knownReset(rule, this.time), this.time)
    const kind = -first % 4
    const at = this.time + Math.floor((-first - 1) / 4)
    const used = this.#number()
    if (kind === ADMITTED) return admitted(rule, used, this.#duration(), at)
    if (kind === HELD) return heldBefore(admitted(rule, used, this.#duration(), at))
    const figures = refused(rule, cost, used, this.#duration(), this.#duration(), at)
    return kind === BLOCKED ? { ...figures, remaining: 0, reason: 'blocked' } : figures
  }

  /** How many equal requests have the next answer. @param most how many there are */
  size(most: number): number {
    const value = this.#number()
    if (value < 1 || value > most) throw unexpectedReply(value)
    return value
  }

  /** Ms; `null` for never. */
  #duration(): number | null {
    const value = this.#number()
    return value < 0 ? null : value
  }

  #number(): number {
    const value = this.#values[this.#position++]
    if (typeof value !== 'number') throw unexpectedReply(value)
    return value
  }
}
