import { admitted, heldBefore, type RuleDecision, refused } from '../../decision.ts'
import { TidegateError } from '../../errors.ts'
import type { Rule } from '../../rule.ts'
import type { Check, Mode } from '../store.ts'
import { knownReset, quotaWords } from './quotas.ts'

/** A probe is answered as if a check of the same request, elsewhere, had refused it: it is not charged. */
export type ScriptMode = Mode | 'probe' | 'peek-probe'

/** One request on its way to Redis, with what waits for its answer. */
export interface Pending {
  readonly checks: readonly Check[]
  /** The Redis key of each check. */
  readonly keys: readonly string[]
  readonly mode: ScriptMode
  /** When nobody waits for the answer any more, by the monotonic clock; infinite for never. */
  readonly until: number
  readonly resolve: (figures: RuleDecision[]) => void
  readonly reject: (error: unknown) => void
}

const SHADOW = 32
const ID = 16
const COST = 8
const PROBE = 4
const PEEK = 2
const MORE = 1

/** Where the first quota stands among the arguments, counted from 1. */
const FIRST_QUOTA = 3

/**
 * The keys and arguments of the `decide` script for a batch, behind `numkeys`; scripts/decide.lua says what they mean.
 * @param now the time to decide at, as scripts/clock.lua reads it
 * @param around about that time, ms since the epoch
 * @param beside behind the names of keys that are named as well, after all the others; none by default
 */
export function encodeBatch(batch: readonly Pending[], now: string, around: number, beside = ''): string[] {
  const operations: string[] = []
  const quotas: string[] = []
  const places = new Map<Rule, number>()
  const words: string[] = ['']
  let latest: Rule | undefined
  let place = 0
  for (const { checks, keys, mode } of batch) {
    const last = checks.length - 1
    for (let i = 0; i <= last; i++) {
      const { rule, cost, id } = checks[i] as Check
      words.push(keys[i] as string)
      // Most often all are of one rule.
      if (rule !== latest) {
        latest = rule
        const known = places.get(rule)
        place = known ?? FIRST_QUOTA + quotas.length
        if (known === undefined) {
          places.set(rule, place)
          quotas.push(...quotaWords(rule, around))
        }
      }
      const kind = FLAGS[mode] + (rule.shadow ? SHADOW : 0)
      const flags = kind + (id === undefined ? 0 : ID) + (cost === 1 ? 0 : COST) + (i < last ? MORE : 0)
      operations.push(String(64 * place + flags))
      if (cost !== 1) operations.push(String(cost))
      if (id !== undefined) operations.push(id)
    }
  }
  if (beside !== '') for (const { keys } of batch) for (const key of keys) words.push(key + beside)
  words[0] = String(words.length - 1)
  words.push(now, String(quotas.length))
  for (const word of quotas) words.push(word)
  for (const operation of operations) words.push(operation)
  return words
}

const FLAGS: Record<ScriptMode, number> = { consume: 0, peek: PEEK, probe: PROBE, 'peek-probe': PEEK + PROBE }

/** What the reply to a batch leaves to do. */
export interface Settled {
  /** The time by which the batch was decided, ms since the epoch. */
  readonly time: number
  /** Requests that have no answer: the windows sent with them did not reach to that time. */
  readonly outOfRange: readonly Pending[]
}

/** Hands each request of a batch its own answer: figures, or the error that is its alone. */
export function settleBatch(batch: readonly Pending[], reply: unknown): Settled {
  const answers = new Answers(reply)
  const outOfRange: Pending[] = []
  for (const pending of batch) {
    const { checks, keys, resolve, reject } = pending
    const figures: RuleDecision[] = []
    let failure: TidegateError | undefined
    let isInRange = true
    for (const [i, { rule, cost }] of checks.entries()) {
      const answer = answers.next(rule, cost)
      if (typeof answer === 'object') figures.push(answer)
      else if (answer.startsWith(OUT_OF_RANGE)) isInRange = false
      else if (failure === undefined || answer !== '') failure = stateFailure(answer, rule, keys[i] as string)
    }
    if (!isInRange) outOfRange.push(pending)
    else if (failure === undefined) resolve(figures)
    else reject(failure)
  }
  return { time: answers.time, outOfRange }
}

/** How the script says that it has not been sent the window of its time. */
const OUT_OF_RANGE = 'RANGE '

const HELD = 0
const ADMITTED = 1
const BLOCKED = 3

/** Reads the flat reply of the `decide` script from front to back. */
class Answers {
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

/** The error of a client that has changed what the script replied. */
export function unexpectedReply(reply: unknown): TidegateError {
  const expected = 'a client that gives integer replies as numbers (ioredis: without stringNumbers)'
  const message = `Redis: expected ${expected}, received ${typeof reply} ${String(reply).slice(0, 40)}`
  return new TidegateError('ERR_CLIENT_UNSUPPORTED', message, { field: 'client', expected })
}

/** What the script says of one key that it could not decide by, or not write. */
function stateFailure(text: string, rule: Rule, key: string): TidegateError {
  const known = stateError(text, rule, key)
  if (known !== undefined) return known
  return new TidegateError(
    'ERR_STORE_UNAVAILABLE',
    `Redis: the key ${key} of rule ${rule.name} was not decided: ${text}`,
  )
}

/** The error of a key whose state is none that this rule can use; undefined where it is another error. */
export function stateError(error: unknown, rule: Rule, key: string): TidegateError | undefined {
  const text = String(typeof error === 'string' ? error : (error as { message?: unknown } | null)?.message)
  const where = `Redis: the key ${key}${text.includes('(its reservations)') ? ':reserved' : ''} of rule ${rule.name}`
  if (/\bWRONGTYPE\b/.test(text)) {
    return new TidegateError('ERR_STATE_WRONG_TYPE', `${where} holds another type of value; it was left alone`)
  }
  if (/\bUNREADABLE\b/.test(text)) {
    return new TidegateError('ERR_STATE_UNREADABLE', `${where} holds what this version cannot read; it was left alone`)
  }
  return undefined
}
