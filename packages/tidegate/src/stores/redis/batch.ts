import { admitted, type RuleDecision, refused } from '../../decision.ts'
import { TidegateError } from '../../errors.ts'
import type { Rule } from '../../rule.ts'
import type { Check, Mode } from '../store.ts'

/** One request on its way to Redis, with what waits for its answer. */
export interface Pending {
  readonly checks: readonly Check[]
  /** The Redis key of each check. */
  readonly keys: readonly string[]
  readonly mode: Mode
  readonly resolve: (figures: RuleDecision[]) => void
  readonly reject: (error: unknown) => void
}

const COST = 4
const PEEK = 2
const MORE = 1

/** The keys and arguments of the `decide` script for a batch, behind `numkeys`; scripts/decide.lua says what they mean. */
export function encodeBatch(batch: readonly Pending[], now: string): string[] {
  const operations: string[] = []
  const quotas: Rule[] = []
  const words: string[] = ['']
  let latest: Rule | undefined
  let index = 0
  for (const { checks, keys, mode } of batch) {
    const last = checks.length - 1
    for (let i = 0; i <= last; i++) {
      const { rule, cost } = checks[i] as Check
      words.push(keys[i] as string)
      // Most often all are of one rule.
      if (rule !== latest) {
        latest = rule
        index = indexOf(quotas, rule) || quotas.push(rule)
      }
      const flags = (cost === 1 ? 0 : COST) + (mode === 'peek' ? PEEK : 0) + (i < last ? MORE : 0)
      operations.push(String(8 * index + flags))
      if (cost !== 1) operations.push(String(cost))
    }
  }
  words[0] = String(words.length - 1)
  words.push(now, String(quotas.length))
  for (const { limit, windowMs } of quotas) words.push(String(limit), String(windowMs))
  for (const operation of operations) words.push(operation)
  return words
}

/** The number of a rule's quota, from 1; 0 if it is new. */
function indexOf(quotas: Rule[], { limit, windowMs }: Rule): number {
  const found = quotas.findIndex((quota) => quota.limit === limit && quota.windowMs === windowMs)
  return found < 0 ? 0 : found + 1
}

/** Hands each request of a batch its own answer: figures, or the error that is its alone. */
export function settleBatch(batch: readonly Pending[], reply: unknown): void {
  const answers = new Answers(reply)
  for (const { checks, keys, resolve, reject } of batch) {
    const figures: RuleDecision[] = []
    let failure: TidegateError | undefined
    for (const [i, { rule }] of checks.entries()) {
      const answer = answers.next(rule)
      if (typeof answer === 'object') figures.push(answer)
      else if (failure === undefined || answer !== '') failure = stateError(answer, rule, keys[i] as string)
    }
    if (failure === undefined) resolve(figures)
    else reject(failure)
  }
}

/** Reads the flat reply of the `decide` script from front to back. */
class Answers {
  readonly #values: readonly unknown[]
  readonly #time: number
  #position = 0

  /** @throws TidegateError `ERR_CLIENT_UNSUPPORTED` where the client has changed the reply */
  constructor(reply: unknown) {
    if (!Array.isArray(reply)) throw unexpectedReply(reply)
    this.#values = reply
    this.#time = this.#number()
  }

  /** The figures of the next check, or the text of its error. */
  next(rule: Rule): RuleDecision | string {
    const first = this.#values[this.#position++]
    if (typeof first !== 'number') return String(first)
    if (first >= 0) return admitted(rule, first, rule.windowMs, this.#time)
    const at = this.#time + Math.floor((-first - 1) / 2)
    const used = this.#number()
    if (first % 2 !== 0) return admitted(rule, used, this.#number(), at)
    const wait = this.#number()
    return refused(rule, used, wait < 0 ? null : wait, this.#number(), at)
  }

  #number(): number {
    const value = this.#values[this.#position++]
    if (typeof value !== 'number') throw unexpectedReply(value)
    return value
  }
}

function unexpectedReply(reply: unknown): TidegateError {
  const expected = 'a client that gives integer replies as numbers (ioredis: without stringNumbers)'
  const message = `Redis: expected ${expected}, received ${typeof reply} ${String(reply).slice(0, 40)}`
  return new TidegateError('ERR_CLIENT_UNSUPPORTED', message, { field: 'client', expected })
}

/** What the script says of one key that it could not decide by, or not write. */
function stateError(text: string, rule: Rule, key: string): TidegateError {
  const where = `Redis: the key ${key} of rule ${rule.name}`
  if (text.startsWith('WRONGTYPE')) {
    return new TidegateError('ERR_STATE_WRONG_TYPE', `${where} holds another type of value; it was left alone`)
  }
  if (text.startsWith('UNREADABLE')) {
    return new TidegateError('ERR_STATE_UNREADABLE', `${where} holds what this version cannot read; it was left alone`)
  }
  return new TidegateError('ERR_STORE_UNAVAILABLE', `${where} was not decided: ${text}`)
}
