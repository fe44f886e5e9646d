import type { Admission, Entry } from '../../admission.ts'
import { UNTOUCHED } from '../../algorithms/algorithm.ts'
import { type Clock, checkClock, systemClock } from '../../clock.ts'
import { admitted, type RuleDecision, wasHeldBefore } from '../../decision.ts'
import { TidegateError } from '../../errors.ts'
import { checkEach, joinKey, type Key } from '../../key.ts'
import { checkFields, checkInteger } from '../../options.ts'
import type { Settlement } from '../../reservation.ts'
import type { Rule } from '../../rule.ts'
import { type Check, type Mode, passesAll, type Reserve, type SyncStore } from '../store.ts'
import { blocked, penalised } from './blocked-figures.ts'
import type { Kept } from './eviction.ts'
import { KeyedStates } from './keyed-states.ts'
import { settle } from './settle.ts'
import { blockName, type Table } from './table.ts'

export interface MemoryStoreOptions {
  /** Milliseconds since the epoch. Default: `Date.now`. */
  clock?: Clock
  /**
   * The most keys kept, over all rules; 1 to 8,000,000. Default: 1,000,000. Beyond it the least needed is forgotten. As many
   * blocks and as many reservations are kept besides.
   */
  maxKeys?: number
}

/** What a memory store holds, for metrics. */
export interface MemoryStoreStats {
  /** Keys held now, some of which may no longer count. */
  readonly keys: number
  /** Keys, blocks and reservations forgotten while they still counted, because there were `maxKeys` of one of these. */
  readonly evicted: number
  /** Keys that are or were blocked, some of which may be free again. */
  readonly blocks: number
  /** Reservations, some of which may have expired; one for each rule that a request has reserved. */
  readonly reservations: number
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
  /** Whether a refusal that is charged starts a block. */
  readonly isPenalised: boolean
}

const NONE: Kept = []

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

  decideOneSync(rule: Rule, key: Key, cost: number, mode: Mode, id?: string): RuleDecision {
    const clock = this.clock()
    const table = rule === this.#rule ? (this.#table as Table) : this.#tableOf(rule)
    const name = typeof key === 'string' ? key : joinKey(key)
    const { blocks } = this.#keys
    if (rule.penalty !== undefined || (blocks.size > 0 && blocks.has(blockName(rule, name)))) {
      const check = id === undefined ? { rule, key, cost } : { rule, key, cost, id }
      return this.#decideAll([check], mode, clock)[0] as RuleDecision
    }
    const state = table.states.get(name) ?? untouched(key)
    const figures = table.algorithm.evaluate(state, rule, cost, clock, id)
    if (mode === 'consume' && cost > 0) {
      if (state === UNTOUCHED && figures.allowed) this.#keys.makeRoom(1, clock, NONE)
      this.#keys.commit(table, name, state, rule, figures, figures.allowed ? cost : 0, id)
    }
    return figures
  }

  decideSync(checks: readonly Check[], mode: Mode): RuleDecision[] {
    return this.#decideAll(checks, mode, this.clock())
  }

  async decide(checks: readonly Check[], mode: Mode): Promise<RuleDecision[]> {
    return this.decideSync(checks, mode)
  }

  async reserve(checks: readonly Reserve[], expiresInMs: number): Promise<RuleDecision[]> {
    const clock = this.clock()
    const { reservations } = this.#keys
    const live = checks.map(({ rule, key, id }) => {
      const { algorithm } = this.#tableOf(rule)
      // Whether a lease is held is for the lease to say, which can have ended before its reservation.
      return algorithm.leased === undefined && reservations.find(blockName(rule, joinKey(key)), id, clock) !== undefined
    })
    const asked = checks.map((check, i) => (live[i] ? { ...check, cost: 0 } : check))
    const figures = this.#decideAll(asked, 'consume', clock, live)
    if (!passesAll(checks, figures)) return figures
    for (const [i, { rule, key, cost, id }] of checks.entries()) {
      const one = figures[i] as RuleDecision
      const name = blockName(rule, joinKey(key))
      // One in shadow can refuse what the others admit, and a lease that was held without a reservation is none.
      if (live[i] || !one.allowed) continue
      if (wasHeldBefore(one) && reservations.find(name, id, clock) === undefined) continue
      reservations.add(name, id, { cost, at: one.at, until: clock + expiresInMs }, clock)
    }
    return figures
  }

  async settle(rule: Rule, key: Key, id: string, cost: number): Promise<Settlement> {
    return settle(this.#keys, this.#tableOf(rule), rule, joinKey(key), id, cost, this.clock())
  }

  async refund(rule: Rule, key: Key, cost: number, of: Admission | undefined): Promise<number> {
    return this.#keys.refund(this.#tableOf(rule), joinKey(key), rule, cost, this.clock(), of)
  }

  async renew(rule: Rule, key: Key, id: string): Promise<boolean> {
    const { algorithm, states } = this.#tableOf(rule)
    const state = states.get(joinKey(key))
    return state !== undefined && algorithm.renew?.(state, rule, id, this.clock()) === true
  }

  async entries(rule: Rule, key: Key): Promise<Entry[]> {
    const { algorithm, states } = this.#tableOf(rule)
    const state = states.get(joinKey(key))
    return (state === undefined ? undefined : algorithm.entries?.(state, rule, this.clock())) ?? []
  }

  async block(rule: Rule, key: Key, durationMs: number): Promise<void> {
    checkEach(key)
    this.#ensureOpen()
    this.#keys.blocks.block(blockName(rule, joinKey(key)), durationMs, this.clock())
  }

  async unblock(rule: Rule, key: Key): Promise<boolean> {
    this.#ensureOpen()
    return this.#keys.blocks.delete(blockName(rule, joinKey(key)), this.clock())
  }

  async reset(rule: Rule, key: Key): Promise<void> {
    const table = this.#tableOf(rule)
    this.#keys.delete(table, joinKey(key))
    this.#keys.blocks.delete(blockName(rule, joinKey(key)), this.clock())
    this.#keys.reservations.forget(blockName(rule, joinKey(key)))
  }

  async ping(): Promise<void> {
    this.#ensureOpen()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#rule = undefined
    this.#keys.clear()
    this.#keys.blocks.clear()
    this.#keys.reservations.clear()
  }

  stats(): MemoryStoreStats {
    const { size, evicted, blocks, reservations } = this.#keys
    const forgotten = evicted + blocks.evicted + reservations.evicted
    return { keys: size, evicted: forgotten, blocks: blocks.size, reservations: reservations.size }
  }

  /** @param live which of them are reserved already; their cost is 0 */
  #decideAll(checks: readonly Check[], mode: Mode, clock: number, live?: readonly boolean[]): RuleDecision[] {
    const { blocks } = this.#keys
    const steps = checks.map((check, i) => this.#evaluate(check, clock, live?.[i] === true))
    const admitted = steps.every(({ figures }, i) => figures.allowed || (checks[i] as Check).rule.shadow)
    if (mode === 'consume' && admitted) this.#makeRoom(checks, steps, clock)
    return steps.map((step, i) => {
      const { rule, cost, id } = checks[i] as Check
      const { table, name, state, figures } = step
      const uncharged = !admitted && figures.allowed && cost > 0
      const answer = uncharged ? table.algorithm.evaluate(state, rule, 0, clock, id) : figures
      if (mode === 'peek' || cost === 0) return answer
      if (blocks.size > 0) blocks.settle(blockName(rule, name), clock)
      if (figures.reason === 'blocked') return answer
      this.#keys.commit(table, name, state, rule, figures, admitted && figures.allowed ? cost : 0, id)
      if (step.isPenalised && rule.penalty) blocks.punish(blockName(rule, name), rule.penalty, clock)
      return answer
    })
  }

  /** Room is made before anything is written, and not with what the request is decided by. */
  #makeRoom(checks: readonly Check[], steps: readonly Step[], clock: number): void {
    const isAdded = ({ state, figures }: Step, i: number) =>
      state === UNTOUCHED && figures.allowed && (checks[i] as Check).cost > 0
    const added = steps.filter(isAdded).length
    if (added > 0) this.#keys.makeRoom(added, clock, steps)
  }

  #evaluate({ rule, key, cost, id }: Check, clock: number, isLive: boolean): Step {
    const table = this.#tableOf(rule)
    const name = joinKey(key)
    const state = table.states.get(name) ?? untouched(key)
    const asked = table.algorithm.evaluate(state, rule, cost, clock, id)
    const figures = isLive ? admitted(rule, asked.used, asked.resetAfterMs, asked.at) : asked
    const { blocks } = this.#keys
    const left = blocks.size === 0 ? 0 : blocks.left(blockName(rule, name), clock)
    if (left > 0) {
      const uncharged = figures.allowed ? table.algorithm.evaluate(state, rule, 0, clock, id) : figures
      return { table, name, state, figures: blocked(uncharged, left), isPenalised: false }
    }
    const { penalty } = rule
    if (penalty === undefined || figures.reason !== 'over_limit' || figures.retryAfterMs === null || cost === 0) {
      return { table, name, state, figures, isPenalised: false }
    }
    const block = blocks.penalty(blockName(rule, name), penalty, clock)
    return { table, name, state, figures: penalised(figures, block), isPenalised: true }
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
