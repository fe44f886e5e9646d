import type { Rule } from '../../rule.ts'
import type { Check } from '../store.ts'
import type { Pending, ScriptMode } from './pending.ts'
import { quotaWords } from './quotas.ts'

const RUN = 128
const ALIKE = 64
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
  const operations = new Operations()
  const quotas: string[] = []
  const places = new Map<Rule, number>()
  const words: string[] = ['']
  let latest: Rule | undefined
  let place = 0
  for (const { checks, keys, mode, alike } of batch) {
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
      const flags = FLAGS[mode] + (rule.shadow ? SHADOW : 0) + (i < last ? MORE : 0)
      operations.add(256 * place + flags, cost, id, alike)
    }
  }
  if (beside !== '') for (const { keys } of batch) for (const key of keys) words.push(key + beside)
  words[0] = String(words.length - 1)
  words.push(now, String(quotas.length))
  for (const word of quotas) words.push(word)
  for (const operation of operations.end()) words.push(operation)
  return words
}

/** The operations of a batch; several in a row that are equal, as most are, are written once. */
class Operations {
  readonly #words: string[] = []
  #latest = -1
  /** How many more there are of the latest. */
  #more = 0

  add(operation: number, cost: number, id: string | undefined, alike: readonly Pending[] | undefined): void {
    const isPlain = cost === 1 && id === undefined && alike === undefined && operation % 2 === 0
    if (isPlain && operation === this.#latest) {
      this.#more++
      return
    }
    this.end()
    this.#latest = isPlain ? operation : -1
    const flags = (id === undefined ? 0 : ID) + (cost === 1 ? 0 : COST) + (alike === undefined ? 0 : ALIKE)
    this.#words.push(String(operation + flags))
    if (cost !== 1) this.#words.push(String(cost))
    if (id !== undefined) this.#words.push(id)
    if (alike !== undefined) this.#words.push(String(alike.length + 1))
  }

  end(): string[] {
    if (this.#more > 0) {
      this.#words[this.#words.length - 1] = String(this.#latest + RUN)
      this.#words.push(String(this.#more))
    }
    this.#more = 0
    return this.#words
  }
}

const FLAGS: Record<ScriptMode, number> = { consume: 0, peek: PEEK, probe: PROBE, 'peek-probe': PEEK + PROBE }
