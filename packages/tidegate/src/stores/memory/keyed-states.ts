import type { Admission } from '../../admission.ts'
import { type Algorithm, UNTOUCHED } from '../../algorithms/algorithm.ts'
import { Concurrency } from '../../algorithms/concurrency/concurrency.ts'
import { FixedWindow } from '../../algorithms/fixed-window/fixed-window.ts'
import { Quota } from '../../algorithms/quota/quota.ts'
import { SlidingCounter } from '../../algorithms/sliding-counter/sliding-counter.ts'
import { SlidingLog } from '../../algorithms/sliding-log/sliding-log.ts'
import { SlidingWindow } from '../../algorithms/sliding-window/sliding-window.ts'
import { TokenBucket } from '../../algorithms/token-bucket/token-bucket.ts'
import type { RuleDecision } from '../../decision.ts'
import type { AlgorithmName } from '../../limit.ts'
import type { Rule } from '../../rule.ts'
import { Blocks } from './blocks.ts'
import { isKept, type Kept, leastNeeded } from './eviction.ts'
import { Reservations } from './reservations.ts'
import type { Place, Table } from './table.ts'

/** How many keys each new key looks at for one that no longer counts. */
const SWEPT_PER_NEW_KEY = 3
/** Below this many keys nothing is swept: they cost little, and a clock that steps back finds them still there. */
const FEW_KEYS = 1024
/** Below this many rules none is dropped. */
const FEW_TABLES = 256

/**
 * The states of all keys of all rules, bounded in number. A cursor goes round them a few steps for
 * each key that is added, and forgets those that are idle; so there are at most about half as many
 * idle keys again as live ones, and no timer.
 */
export class KeyedStates {
  readonly #algorithms: Record<AlgorithmName, Algorithm> = {
    'sliding-window': new SlidingWindow(),
    'sliding-log': new SlidingLog(),
    concurrency: new Concurrency(),
    'fixed-window': new FixedWindow(),
    'sliding-counter': new SlidingCounter(),
    'token-bucket': new TokenBucket(),
    quota: new Quota(),
  }
  /** The blocked keys. */
  readonly blocks: Blocks
  /** What is reserved of the keys. */
  readonly reservations: Reservations
  readonly #tables = new Map<string, Table>()
  readonly #maxKeys: number
  #mostTables = FEW_TABLES
  #size = 0
  #evicted = 0
  #cursor: Iterator<Place>

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys
    this.blocks = new Blocks(maxKeys)
    this.reservations = new Reservations(maxKeys)
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
    if (known !== undefined) {
      if (known.rule !== rule) [known.rule, known.slowest] = [rule, slower(known.slowest, rule)]
      return known
    }
    if (this.#tables.size >= this.#mostTables) this.#dropEmptyTables()
    const algorithm = this.#algorithms[rule.algorithm]
    const table: Table = { rule, slowest: rule, algorithm, states: new Map<string, number>() }
    this.#tables.set(rule.id, table)
    return table
  }

  /** Sweeps, and makes room for `count` new keys, without taking away any that `kept` names. */
  makeRoom(count: number, clock: number, kept: Kept): void {
    if (this.#size >= FEW_KEYS) this.#sweep(SWEPT_PER_NEW_KEY * count, clock, kept)
    while (this.#size > 0 && this.#size + count > this.#maxKeys) {
      const victim = leastNeeded(() => this.#next(), this.#size, this.blocks, clock, kept)
      if (victim === undefined) return
      if (!victim.table.algorithm.idle(victim.state, victim.table.slowest, clock)) this.#evicted++
      this.delete(victim.table, victim.name)
    }
  }

  /** A state for a key that has none, to be committed to at once. */
  add(table: Table, name: string): number {
    // Whoever asks may have held on to a table that has been dropped since.
    if (table.states.size === 0) this.#tables.set(table.rule.id, table)
    const state = table.algorithm.open()
    table.states.set(name, state)
    this.#size++
    return state
  }

  /** Charges what was admitted at the time of its figures; or with a cost of 0 settles what a clock that came right left. */
  commit(
    table: Table,
    name: string,
    state: number,
    rule: Rule,
    { at }: RuleDecision,
    cost: number,
    id: string | undefined,
  ): void {
    if (cost === 0 && !table.algorithm.unsettled(state, at)) return
    table.algorithm.commit(state === UNTOUCHED ? this.add(table, name) : state, rule, cost, at, id)
  }

  /** Gives back up to `cost`, of one admission or of the oldest ones, and says how much. */
  refund(table: Table, name: string, rule: Rule, cost: number, clock: number, of: Admission | undefined): number {
    const state = table.states.get(name)
    if (state === undefined) return 0
    const refunded = table.algorithm.refund(state, rule, cost, clock, of)
    if (refunded > 0 && table.algorithm.idle(state, rule, clock)) this.delete(table, name)
    return refunded
  }

  delete(table: Table, name: string): void {
    const state = table.states.get(name) ?? UNTOUCHED
    if (state === UNTOUCHED) return
    table.algorithm.release(state)
    table.states.delete(name)
    this.#size--
  }

  clear(): void {
    for (const table of this.#tables.values()) for (const name of table.states.keys()) this.delete(table, name)
  }

  /** Rules that nobody uses any more leave nothing behind. The round must not stand in one of them, and begins anew. */
  #dropEmptyTables(): void {
    for (const [id, { states }] of this.#tables) if (states.size === 0) this.#tables.delete(id)
    this.#mostTables = 2 * this.#tables.size + FEW_TABLES
    this.#cursor = this.#round()
  }

  #sweep(count: number, clock: number, kept: Kept): void {
    for (let i = 0; i < count; i++) {
      const place = this.#next()
      if (place === undefined) return
      const { table, name, state } = place
      if (!isKept(kept, place) && table.algorithm.idle(state, table.slowest, clock)) this.delete(table, name)
    }
  }

  /** The next key of the round, beginning again after the last; undefined where there is none. */
  #next(): Place | undefined {
    if (this.#size === 0) return undefined
    const { value, done } = this.#cursor.next()
    if (done !== true) return value
    this.#cursor = this.#round()
    return this.#cursor.next().value
  }

  *#round(): Generator<Place> {
    for (const table of this.#tables.values()) {
      for (const [name, state] of table.states) yield { table, name, state }
    }
  }
}

/** The one of two limits of a rule under which a bucket fills more slowly; the later one of those that have no rate. */
function slower(one: Rule, other: Rule): Rule {
  return one.refillUnits * other.tokenUnits < other.refillUnits * one.tokenUnits ? one : other
}
