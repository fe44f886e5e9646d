import type { Algorithm } from '../../algorithms/algorithm.ts'
import { slidingWindow } from '../../algorithms/sliding-window/sliding-window.ts'
import type { AlgorithmName, Rule } from '../../rule.ts'

const ALGORITHM: Record<AlgorithmName, Algorithm<never>> = { 'sliding-window': slidingWindow as Algorithm<never> }

/** The states of one rule's keys. */
export interface Table {
  readonly rule: Rule
  readonly algorithm: Algorithm<unknown>
  readonly states: Map<string, unknown>
}

/** How many keys each new key looks at for one that no longer counts. */
const SWEPT_PER_NEW_KEY = 3
/** Below this many keys nothing is swept: they cost little, and a clock that steps back finds them still there. */
const FEW_KEYS = 1024
/** How many keys are compared when one has to go. */
const COMPARED = 64

/**
 * The states of all keys of all rules, bounded in number. A cursor goes round them a few steps for
 * each key that is added, and forgets those that are idle; so there are at most about half as many
 * idle keys again as live ones, no timer, and no long pause.
 */
export class KeyedStates {
  readonly #tables = new Map<string, Table>()
  readonly #maxKeys: number
  #size = 0
  #evicted = 0
  #cursor: Iterator<[Table, string, unknown]>

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys
    this.#cursor = this.#round()
  }

  get size(): number {
    return this.#size
  }

  /** Keys forgotten while they still counted, for want of room. */
  get evicted(): number {
    return this.#evicted
  }

  tableOf(rule: Rule): Table {
    const known = this.#tables.get(rule.id)
    if (known !== undefined) return known
    const algorithm = ALGORITHM[rule.algorithm] as Algorithm<unknown>
    const table = { rule, algorithm, states: new Map<string, unknown>() }
    this.#tables.set(rule.id, table)
    return table
  }

  add(table: Table, name: string, state: unknown, clock: number): void {
    if (this.#size >= FEW_KEYS) this.sweep(SWEPT_PER_NEW_KEY, clock)
    if (this.#size >= this.#maxKeys) this.#evict(clock)
    table.states.set(name, state)
    this.#size++
  }

  delete(table: Table, name: string): boolean {
    const deleted = table.states.delete(name)
    if (deleted) this.#size--
    return deleted
  }

  clear(): void {
    this.#tables.clear()
    this.#size = 0
  }

  /** Looks at up to `count` keys and forgets the idle ones among them. */
  sweep(count: number, clock: number): void {
    for (let i = 0; i < count; i++) {
      const next = this.#next()
      if (next === undefined) return
      const [table, name, state] = next
      if (table.algorithm.idle(state, table.rule, clock)) this.delete(table, name)
    }
  }

  /** Forgets the least needed of some keys: an idle one, else one within its limit, else the one soonest to reset. */
  #evict(clock: number): void {
    let victim: [Table, string, unknown] | undefined
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < Math.min(COMPARED, this.#size); i++) {
      const candidate = this.#next()
      if (candidate === undefined) break
      const need = needOf(candidate, clock)
      if (need < least) [victim, least] = [candidate, need]
    }
    if (victim === undefined || !this.delete(victim[0], victim[1])) return
    if (least > 0) this.#evicted++
  }

  /** The next key of the round, beginning again after the last; undefined where there is none. */
  #next(): [Table, string, unknown] | undefined {
    if (this.#size === 0) return undefined
    const { value, done } = this.#cursor.next()
    if (done !== true) return value
    this.#cursor = this.#round()
    return this.#cursor.next().value
  }

  *#round(): Generator<[Table, string, unknown]> {
    for (const table of this.#tables.values()) {
      for (const [name, state] of table.states) yield [table, name, state]
    }
  }
}

/** Keys over their limit come after all others, however soon they reset. */
const OVER_LIMIT = 2 ** 50

function needOf([table, , state]: [Table, string, unknown], clock: number): number {
  const { allowed } = table.algorithm.evaluate(state, table.rule, 1, clock)
  const { resetAfterMs } = table.algorithm.evaluate(state, table.rule, 0, clock)
  return allowed ? resetAfterMs : OVER_LIMIT + resetAfterMs
}
