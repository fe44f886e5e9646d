import type { Entry } from './admission.ts'
import {
  type Atomicity,
  type Decision,
  decideByAll,
  decideByNone,
  decideByOne,
  MAX_COUNT,
  type RuleDecision,
} from './decision.ts'
import { checkDescriptor, type Descriptor, keyOf } from './descriptor.ts'
import type { Duration } from './duration.ts'
import { invalid, TidegateError } from './errors.ts'
import type { Key } from './key.ts'
import { type AcquireOptions, acquireOf, checkMaxWaiting, type WaitingOptions } from './local/acquire.ts'
import { countersOf, type Question, questionOf } from './local/question.ts'
import { WaitingLines } from './local/waiting-lines.ts'
import { checkFields } from './options.ts'
import { type FOREVER, parseBlock } from './penalty.ts'
import { admissionOf, type RefundOptions, refundOf } from './refund.ts'
import { checkId, costOf, type RequestOptions, requestIdOf } from './request.ts'
import { ensureLists, hasLeases, keepsIds, type Rule, type RuleOptions } from './rule.ts'
import type { RuleChanges } from './rule-changes.ts'
import { type Placement, RuleSet } from './rule-set.ts'
import { checkAtomicity } from './slots.ts'
import { memoryStore } from './stores/memory/memory-store.ts'
import { type Check, checkStore, isSyncStore, type Mode, type Store, syncUnsupported } from './stores/store.ts'

export interface GateOptions extends WaitingOptions {
  rules: RuleOptions[]
  /** Default: a memory store of the gate's own. */
  store?: Store
  /**
   * For a Redis Cluster: the keys of all rules that have this dimension in their `key` lie in the slot of its value, so
   * that rules of one tenant, say, are decided in one step. Default: each key lies where all its values put it.
   */
  slot?: string
  /**
   * `'strict'` refuses rules that a cluster cannot decide in one step. Default: `'compensated'`, in one step where that
   * can be, and else so that nothing is over-admitted and no refused request leaves a charge; each decision says which.
   */
  atomicity?: Atomicity
}

/** Many rules over one request: all that match are decided in one atomic step, all-or-nothing. */
export interface Gate {
  /** The rules as they are now, checked. */
  readonly rules: readonly Rule[]
  /** A fingerprint of the rules as they are now, the same wherever they are loaded. */
  readonly version: string
  /**
   * Replaces all rules, or none: where anything is wrong with the new ones, those that are there stay. What has been begun
   * is decided by the rules it began with; who waits in `acquire` asks again by the new ones, in the order of arrival.
   * Counts are kept by name: a changed limit applies to them at once, a changed algorithm, window, resolution or key
   * begins anew.
   * @returns what has changed
   * @throws TidegateError as `createGate`, and `ERR_CLOSED`
   */
  update(rules: RuleOptions[]): RuleChanges
  /**
   * Tells what each later `update` has changed, once it has; nothing where it has changed nothing. What the listener
   * throws is an unhandled rejection, and no failure of the update.
   * @returns a function that ends this
   */
  onUpdate(listener: (changes: RuleChanges) => void): () => void
  /**
   * Decides one request by every rule that matches it; charges all of them or none.
   * @throws TidegateError (rejects) `ERR_INVALID_DESCRIPTOR`, `ERR_INVALID_KEY`, `ERR_INVALID_COST`, `ERR_STORE_…`, `ERR_STATE_…`, `ERR_CLOSED`
   */
  limit(descriptor: Descriptor, options?: RequestOptions): Promise<Decision>
  /** The same at once, where the store is memory. @throws TidegateError, also `ERR_SYNC_UNSUPPORTED` */
  limitSync(descriptor: Descriptor, options?: RequestOptions): Decision
  /**
   * Waits until the request is admitted. In this process first come, first served among the requests of the same
   * counters; those that have only some of their counters in common do not wait for each other, and whoever asks the
   * store first passes. Refused, at once, is what can never be admitted or not within `timeoutMs`, and at that deadline
   * whatever still waits. Rejects with the signal's reason once that is aborted, and has then charged nothing.
   * @throws TidegateError (rejects) as `limit`, and `ERR_INVALID_OPTION`, `ERR_TOO_MANY_WAITING`
   */
  acquire(descriptor: Descriptor, options?: AcquireOptions): Promise<Decision>
  /** What `limit` would answer now, without charging. */
  peek(descriptor: Descriptor, options?: RequestOptions): Promise<Decision>
  /** The same at once, where the store is memory. */
  peekSync(descriptor: Descriptor, options?: RequestOptions): Decision
  /**
   * Gives back what was admitted, of each rule that matches: of that one admission, with its decision, if it is still
   * live; else of the oldest live ones. Each rule by itself, so that one can fail alone.
   * @returns the cost that each rule was given back, by name
   */
  refund(descriptor: Descriptor, options?: RefundOptions): Promise<ReadonlyMap<string, number>>
  /** Ends the lease of this id in every `concurrency` rule that matches. @returns false where there was none left */
  release(descriptor: Descriptor, id: string): Promise<boolean>
  /** The lease of this id lives on for its whole time from now. @returns false where it had ended in any of the rules */
  renew(descriptor: Descriptor, id: string): Promise<boolean>
  /**
   * The live admissions of a `sliding-log`, or the live leases of `concurrency`, oldest first.
   * `rule` names one of the rules that match; it is needed where several do.
   */
  entries(descriptor: Descriptor, options?: { rule?: string }): Promise<Entry[]>
  /**
   * Refuses the key of this request in one rule for so long from now, whatever it has used; instead of a block that
   * there is. `rule` is needed where several match, so that nobody blocks more than he meant.
   */
  block(descriptor: Descriptor, duration: Duration | typeof FOREVER, options?: { rule?: string }): Promise<void>
  /** Ends a block, and forgets the penalties of the key. @returns whether it was blocked */
  unblock(descriptor: Descriptor, options?: { rule?: string }): Promise<boolean>
  /** Forgets the keys of this request in every rule that matches it; each by itself, so that one can fail alone. */
  reset(descriptor: Descriptor): Promise<void>
  /** How many requests passed each rule by (peeks aside) because a dimension of its key was missing; of rules that are there. */
  skipped(): ReadonlyMap<string, number>
  /** Further calls are errors, and so are those that wait. Closes the store if the gate made it. */
  close(): Promise<void>
}

/**
 * Many rules over one request.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE`, `ERR_INVALID_KEY`
 */
export function createGate(options: GateOptions): Gate {
  checkFields(options, 'options', ['rules', 'store', 'slot', 'atomicity', 'maxWaiting'])
  const store = options.store === undefined ? memoryStore() : checkStore(options.store)
  const isStrict = checkAtomicity(options.atomicity) === 'strict' && store.cluster === true
  const placement = { slot: options.slot, isStrict }
  const lines = new WaitingLines(checkMaxWaiting(options.maxWaiting))
  return new RuleGate(new RuleSet(options.rules, placement), placement, store, options.store === undefined, lines)
}

class RuleGate implements Gate {
  #set: RuleSet
  readonly #placement: Placement
  readonly #store: Store
  readonly #ownsStore: boolean
  readonly #lines: WaitingLines
  readonly #listeners = new Set<(changes: RuleChanges) => void>()
  readonly #skipped = new Map<string, number>()
  #closed = false

  constructor(set: RuleSet, placement: Placement, store: Store, ownsStore: boolean, lines: WaitingLines) {
    this.#set = set
    this.#placement = placement
    this.#store = store
    this.#ownsStore = ownsStore
    this.#lines = lines
  }

  get rules(): readonly Rule[] {
    return this.#set.rules
  }

  get version(): string {
    return this.#set.version
  }

  update(rules: RuleOptions[]): RuleChanges {
    if (this.#closed) throw closedError()
    const [before, after] = [this.#set, new RuleSet(rules, this.#placement)]
    const changes = after.changesSince(before)
    this.#set = after
    for (const name of changes.removed) this.#skipped.delete(name)
    const { added, removed, changed, version } = changes
    if (version === before.version && added.length + removed.length + changed.length === 0) return changes
    this.#lines.renew()
    for (const listener of this.#listeners) void Promise.resolve().then(() => listener(changes))
    return changes
  }

  onUpdate(listener: (changes: RuleChanges) => void): () => void {
    // The same function may listen twice, and each of the two ends by itself.
    const own = (changes: RuleChanges) => listener(changes)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  async limit(descriptor: Descriptor, options?: RequestOptions): Promise<Decision> {
    return this.#decide(descriptor, options, 'consume')
  }

  limitSync(descriptor: Descriptor, options?: RequestOptions): Decision {
    return this.#decideSync(descriptor, options, 'consume')
  }

  async acquire(descriptor: Descriptor, options?: AcquireOptions): Promise<Decision> {
    const { request, patience } = acquireOf(options)
    const checks = this.#checks(descriptor, request, 'consume')
    if (checks.length === 0) return this.#answer(this.#set, checks, [])
    // As it is now, whatever becomes of the object while it waits.
    return this.#lines.wait(this.#question({ ...descriptor }, request, checks), patience)
  }

  #question(descriptor: Descriptor, request: RequestOptions, checks: readonly Check[]): Question {
    const set = this.#set
    const question = questionOf(this.#store, checks, (figures) => this.#answer(set, checks, figures))
    // It keeps the name that it has been asked under.
    const named = question.id === null ? request : { ...request, id: question.id }
    return { ...question, renewed: () => this.#question(descriptor, named, this.#checks(descriptor, named, 'peek')) }
  }

  async peek(descriptor: Descriptor, options?: RequestOptions): Promise<Decision> {
    return this.#decide(descriptor, options, 'peek')
  }

  peekSync(descriptor: Descriptor, options?: RequestOptions): Decision {
    return this.#decideSync(descriptor, options, 'peek')
  }

  async refund(descriptor: Descriptor, options?: RefundOptions): Promise<ReadonlyMap<string, number>> {
    const refund = refundOf(options)
    const refunds = this.#matching(descriptor).map(({ rule, key }) => ({ rule, key, of: admissionOf(refund, rule) }))
    const given = await Promise.all(
      refunds.map(async ({ rule, key, of }): Promise<[string, number]> => {
        return [
          rule.name,
          of === null ? 0 : await this.#given({ rule, key }, this.#store.refund(rule, key, refund.cost, of)),
        ]
      }),
    )
    return new Map(given)
  }

  async release(descriptor: Descriptor, id: string): Promise<boolean> {
    const of = { at: undefined, id: checkId(id) }
    const leases = this.#leases(descriptor)
    const released = await Promise.all(
      leases.map((lease) => this.#given(lease, this.#store.refund(lease.rule, lease.key, MAX_COUNT, of))),
    )
    return released.some((cost) => cost > 0)
  }

  async renew(descriptor: Descriptor, id: string): Promise<boolean> {
    checkId(id)
    const leases = this.#leases(descriptor)
    const renewed = await Promise.all(leases.map(({ rule, key }) => this.#store.renew(rule, key, id)))
    return renewed.every(Boolean)
  }

  async entries(descriptor: Descriptor, options?: { rule?: string }): Promise<Entry[]> {
    const { rule, key } = this.#one(descriptor, options)
    ensureLists(rule)
    return this.#store.entries(rule, key)
  }

  async block(descriptor: Descriptor, duration: Duration | typeof FOREVER, options?: { rule?: string }): Promise<void> {
    const ms = parseBlock(duration, 'duration')
    const { rule, key } = this.#one(descriptor, options)
    await this.#store.block(rule, key, ms)
  }

  async unblock(descriptor: Descriptor, options?: { rule?: string }): Promise<boolean> {
    const { rule, key } = this.#one(descriptor, options)
    return this.#given({ rule, key }, this.#store.unblock(rule, key))
  }

  async reset(descriptor: Descriptor): Promise<void> {
    const counters = this.#matching(descriptor)
    await Promise.all(counters.map((one) => this.#given(one, this.#store.reset(one.rule, one.key))))
  }

  skipped(): ReadonlyMap<string, number> {
    return this.#skipped
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#lines.close(closedError())
    if (this.#ownsStore) await this.#store.close()
  }

  /** What gives something back to a counter lets whoever waits for it ask again. */
  async #given<Result>(counter: Counter, giving: Promise<Result>): Promise<Result> {
    const result = await giving
    this.#lines.wake(countersOf([counter]))
    return result
  }

  async #decide(descriptor: Descriptor, options: RequestOptions | undefined, mode: Mode): Promise<Decision> {
    const set = this.#set
    const checks = this.#checks(descriptor, options, mode)
    const figures = checks.length === 0 ? [] : await this.#store.decide(checks, mode)
    return this.#answer(set, checks, figures)
  }

  #decideSync(descriptor: Descriptor, options: RequestOptions | undefined, mode: Mode): Decision {
    if (!isSyncStore(this.#store)) throw syncUnsupported()
    const checks = this.#checks(descriptor, options, mode)
    return this.#answer(this.#set, checks, this.#store.decideSync(checks, mode))
  }

  /** The decision by the rules that a request began with. */
  #answer({ version }: RuleSet, checks: readonly Check[], figures: readonly RuleDecision[]): Decision {
    const [first] = figures
    if (first === undefined) return decideByNone(this.#store.clock(), version)
    const id = checks.find((check) => check.id !== undefined)?.id ?? null
    const context = { version, id, atomicity: this.#store.atomicity?.(checks) ?? 'strict' }
    return figures.length === 1 ? decideByOne(first, context) : decideByAll(figures, context)
  }

  /** The limits that this request has to pass. */
  #checks(descriptor: Descriptor, options: RequestOptions | undefined, mode: Mode): Check[] {
    const cost = costOf(options)
    const matching = this.#matching(descriptor, mode)
    if (!matching.some(({ rule }) => keepsIds(rule))) return matching.map(({ rule, key }) => ({ rule, key, cost }))
    const id = requestIdOf(options)
    return matching.map(({ rule, key }) => (keepsIds(rule) ? { rule, key, cost, id } : { rule, key, cost }))
  }

  #leases(descriptor: Descriptor): Counter[] {
    const leases = this.#matching(descriptor).filter(({ rule }) => hasLeases(rule))
    if (leases.length > 0) return leases
    throw new TidegateError('ERR_ALGORITHM_UNSUPPORTED', 'no rule that matches has leases: only concurrency has')
  }

  /** The one counter that is meant: of the only rule that matches, or of the one that is named. */
  #one(descriptor: Descriptor, options: { rule?: string } = {}): Counter {
    const { rule: name } = checkFields(options, 'options', ['rule'])
    const matching = this.#matching(descriptor)
    const [only] = name === undefined ? matching : matching.filter(({ rule }) => rule.name === name)
    if (only !== undefined && (name !== undefined || matching.length === 1)) return only
    const names = matching.map(({ rule }) => rule.name).join(', ')
    const expected =
      matching.length === 0 ? 'a descriptor that a rule matches' : `the rule that is meant, one of ${names}`
    throw invalid('ERR_INVALID_OPTION', 'rule', expected, name)
  }

  /** The counters of this request: of each rule that matches, the key. */
  #matching(descriptor: Descriptor, mode: Mode = 'peek'): Counter[] {
    if (this.#closed) throw closedError()
    checkDescriptor(descriptor)
    const matching: Counter[] = []
    for (const rule of this.#set.matching(descriptor)) {
      const key = keyOf(rule, descriptor)
      if (key !== undefined) matching.push({ rule, key })
      else if (mode === 'consume') this.#skipped.set(rule.name, (this.#skipped.get(rule.name) ?? 0) + 1)
    }
    return matching
  }
}

function closedError(): TidegateError {
  return new TidegateError('ERR_CLOSED', 'the gate has been closed')
}

/** One counter of a rule. */
interface Counter {
  readonly rule: Rule
  readonly key: Key
}
