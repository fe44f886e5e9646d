import { UNTOUCHED } from '../../algorithms/algorithm.ts'
import { type Clock, checkClock, systemClock } from '../../clock.ts'
import type { RuleDecision } from '../../decision.ts'
import { TidegateError } from '../../errors.ts'
import { checkEach, joinKey, type Key } from '../../key.ts'
import { checkFields, checkInteger } from '../../options.ts'
import type { Rule } from '../../rule.ts'
import type { Check, Mode, SyncStore } from '../store.ts'
import { KeyedStates } from './keyed-states.ts'
import type { Table } from './table.ts'

export interface MemoryStoreOptions {
  /** Milliseconds since the epoch. Default: `Date.now`. */
  clock?: Clock
  /** The most keys kept, over all rules; 1 to 8,000,000. Default: 1,000,000. Beyond it the least needed is forgotten. */
  maxKeys?: number
}

/** What a memory store holds, for metrics. */
export interface MemoryStoreStats {
  /** Keys held now, some of which may no longer count. */
  readonly keys: number
  /** Keys forgotten while they still counted, because there were `maxKeys`. */
  readonly evicted: number
}

export interface MemoryStore extends SyncStore {
  stats(): MemoryStoreStats
}

const DEFAULT_MAX_KEYS = 1_000_000
/** A Map that has held twice as many is at the most that V8 allows. */
const MOST_MAX_KEYS = 8_000_000

/**
 * Counts inside this process. Keys that no longer count are swept a few at a time as new ones come;
 * there is no timer.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys = DEFAULT_MAX_KEYS, clock } = checkFields(options, 'options', ['clock', 'maxKeys'])
  return new InMemoryStore(
    clock === undefined ? systemClock : checkClock(clock),
    checkInteger(maxKeys, 'maxKeys', 1, MOST_MAX_KEYS),
  )
}

/** A check that has been looked up and evaluated, and waits for the others of its request. */
interface Step {
  readonly table: Table
  readonly name: string
  readonly state: number
  readonly figures: RuleDecision
}

const NONE: ReadonlySet<number> = new Set()

class InMemoryStore implements MemoryStore {
  readonly clock: Clock
  readonly #keys: KeyedStates
  #closed = false
  // The table of the latest rule: a limiter has but one.
  #rule: Rule | undefined
  #table: Table | undefined

  constructor(clock: Clock, maxKeys: number) {
    this.clock = clock
    this.#keys = new KeyedStates(maxKeys)
  }

  decideOneSync(rule: Rule, key: Key, cost: number, mode: Mode): RuleDecision {
    const clock = this.clock()
    const table = rule === this.#rule ? (this.#table as Table) : this.#tableOf(rule)
    const name = typeof key === 'string' ? key : joinKey(key)
    const state = table.states.get(name) ?? untouched(key)
    const figures = table.algorithm.evaluate(state, rule, cost, clock)
    if (mode === 'consume' && cost > 0) {
      if (state === UNTOUCHED && figures.allowed) this.#keys.makeRoom(1, clock, NONE)
      this.#commit(table, name, state, rule, figures, figures.allowed ? cost : 0)
    }
    return figures
  }

  decideSync(checks: readonly Check[], mode: Mode): RuleDecision[] {
    const clock = this.clock()
    const steps = checks.map((check) => this.#evaluate(check, clock))
    const admitted = steps.every(({ figures }) => figures.allowed)
    if (mode === 'consume' && admitted) this.#makeRoom(checks, steps, clock)
    return steps.map(({ table, name, state, figures }, i) => {
      const { rule, cost } = checks[i] as Check
      const uncharged = !admitted && figures.allowed
      const answer = uncharged ? table.algorithm.evaluate(state, rule, 0, clock) : figures
      if (mode === 'consume' && cost > 0) this.#commit(table, name, state, rule, figures, admitted ? cost : 0)
      return answer
    })
  }

  async decide(checks: readonly Check[], mode: Mode): Promise<RuleDecision[]> {
    return this.decideSync(checks, mode)
  }

  async reset(rule: Rule, key: Key): Promise<void> {
    this.#keys.delete(this.#tableOf(rule), joinKey(key))
  }

  async ping(): Promise<void> {
    this.#ensureOpen()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#rule = undefined
    this.#keys.clear()
  }

  stats(): MemoryStoreStats {
    return { keys: this.#keys.size, evicted: this.#keys.evicted }
  }

  /** Room is made before anything is written, and not with what the request is decided by. */
  #makeRoom(checks: readonly Check[], steps: readonly Step[], clock: number): void {
    const added = steps.filter(({ state }, i) => state === UNTOUCHED && (checks[i] as Check).cost > 0).length
    if (added > 0) this.#keys.makeRoom(added, clock, new Set(steps.map(({ state }) => state)))
  }

  #evaluate({ rule, key, cost }: Check, clock: number): Step {
    const table = this.#tableOf(rule)
    const name = joinKey(key)
    const state = table.states.get(name) ?? untouched(key)
    return { table, name, state, figures: table.algorithm.evaluate(state, rule, cost, clock) }
  }

  #commit(table: Table, name: string, state: number, rule: Rule, { at }: RuleDecision, cost: number): void {
    if (cost === 0 && !table.algorithm.unsettled(state, at)) return
    table.algorithm.commit(state === UNTOUCHED ? this.#keys.add(table, name) : state, rule, cost, at)
  }

  #tableOf(rule: Rule): Table {
    this.#ensureOpen()
    this.#rule = rule
    this.#table = this.#keys.tableOf(rule)
    return this.#table
  }

  #ensureOpen(): void {
    if (this.#closed) throw new TidegateError('ERR_CLOSED', 'the memory store has been closed')
  }
}

/** Only here is a key looked at closely: one that is known has passed before. */
function untouched(key: Key): number {
  checkEach(key)
  return UNTOUCHED
}
