import { joinKey, type Key } from '../../key.ts'
import type { Rule } from '../../rule.ts'

type Tables<Value> = Map<string, Map<string, Value>>

/**
 * Values by rule and key, of which the least used are forgotten: what nobody has asked for while half of `most` others were
 * added. No timer, and nothing is ever looked through.
 */
export class Generations<Value> {
  readonly #half: number
  #young: Tables<Value> = new Map()
  #old: Tables<Value> = new Map()
  #added = 0

  constructor(most: number) {
    this.#half = Math.max(1, Math.ceil(most / 2))
  }

  /** True where nothing is kept. */
  get isEmpty(): boolean {
    return this.#young.size === 0 && this.#old.size === 0
  }

  get size(): number {
    let size = 0
    for (const tables of [this.#young, this.#old]) for (const table of tables.values()) size += table.size
    return size
  }

  get({ id }: Rule, key: Key): Value | undefined {
    const name = typeof key === 'string' ? key : joinKey(key)
    const young = this.#young.get(id)?.get(name)
    if (young !== undefined) return young
    const table = this.#old.get(id)
    const old = table?.get(name)
    if (old === undefined) return undefined
    table?.delete(name)
    this.#add(id, name, old)
    return old
  }

  set({ id }: Rule, key: Key, value: Value): void {
    const name = typeof key === 'string' ? key : joinKey(key)
    this.#old.get(id)?.delete(name)
    this.#add(id, name, value)
  }

  delete({ id }: Rule, key: Key): void {
    const name = typeof key === 'string' ? key : joinKey(key)
    this.#old.get(id)?.delete(name)
    this.#young.get(id)?.delete(name)
  }

  #add(id: string, name: string, value: Value): void {
    let table = this.#young.get(id)
    if (table?.has(name) !== true && ++this.#added > this.#half) {
      this.#old = this.#young
      this.#young = new Map()
      this.#added = 1
      table = undefined
    }
    if (table === undefined) {
      table = new Map()
      this.#young.set(id, table)
    }
    table.set(name, value)
  }
}
