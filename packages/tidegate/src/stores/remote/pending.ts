import { type ErrorCode, errorCodes, TidegateError } from '../../errors.ts'
import type { Rule } from '../../rule.ts'
import type { OperationName, WireAnswer } from './wire.ts'
import { writeRule } from './wire-rule.ts'

/** One operation that waits for its answer. */
export interface Pending {
  readonly op: OperationName
  /** How many rules it can speak of, at most. */
  readonly rules: number
  /** Its text in a batch whose rules have these places. */
  readonly write: (placeOf: (rule: Rule) => number) => string
  /** By the monotonic clock: nobody waits for its answer after that. */
  readonly until: number
  readonly resolve: (answer: WireAnswer) => void
  readonly reject: (error: unknown) => void
}

/** What can be asked again where nobody knows whether it was done: it then charges nothing a second time. */
const REPEATABLE: readonly OperationName[] = [
  'peek',
  'reserve',
  'renew',
  'entries',
  'block',
  'unblock',
  'heartbeat',
  'ping',
]

export function isRepeatable({ op }: Pending): boolean {
  return REPEATABLE.includes(op)
}

const texts = new WeakMap<Rule, string>()

function textOf(rule: Rule): string {
  const known = texts.get(rule)
  if (known !== undefined) return known
  const text = JSON.stringify(writeRule(rule))
  texts.set(rule, text)
  return text
}

/** The body of one request, as operations are added to it. */
export class Body {
  readonly #places = new Map<string, number>()
  readonly #operations: string[] = []
  #length = 0

  /** How many rules its operations speak of. */
  get rules(): number {
    return this.#places.size
  }

  /** In UTF-16 code units. */
  get length(): number {
    return this.#length
  }

  add({ write }: Pending): void {
    const text = write((rule) => this.#placeOf(rule))
    this.#operations.push(text)
    this.#length += text.length
  }

  #placeOf(rule: Rule): number {
    const text = textOf(rule)
    const known = this.#places.get(text)
    if (known !== undefined) return known
    this.#places.set(text, this.#places.size)
    this.#length += text.length
    return this.#places.size - 1
  }

  toString(): string {
    return `{"rules":[${[...this.#places.keys()].join(',')}],"operations":[${this.#operations.join(',')}]}`
  }
}

/** An error as the service has told it. */
export function errorOf(answer: WireAnswer): TidegateError | undefined {
  if (!('error' in answer)) return undefined
  const { code, message, field, expected } = answer.error
  // Its store is closed; this one is not.
  const known: ErrorCode =
    Object.hasOwn(errorCodes, code) && code !== 'ERR_CLOSED' ? (code as ErrorCode) : 'ERR_STORE_UNAVAILABLE'
  return new TidegateError(known, message, {
    ...(field !== undefined && { field }),
    ...(expected !== undefined && { expected }),
  })
}
