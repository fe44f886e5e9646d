import type { Entry } from '../admission.ts'
import {
  type Decision,
  decideByAll,
  decideByEnforced,
  decideByNone,
  decideByOne,
  MAX_COUNT,
  type RuleDecision,
} from '../decision.ts'
import type { Descriptor } from '../descriptor.ts'
import type { Duration } from '../duration.ts'
import { invalid, TidegateError } from '../errors.ts'
import { type AcquireOptions, acquireOf } from '../local/acquire.ts'
import { countersOf, type Question, questionOf } from '../local/question.ts'
import type { WaitingLines } from '../local/waiting-lines.ts'
import { checkFields } from '../options.ts'
import { type FOREVER, parseBlock } from '../penalty.ts'
import { admissionOf, type RefundOptions, refundOf } from '../refund.ts'
import { checkId, costOf, type RequestOptions, requestIdOf } from '../request.ts'
import {
  actualCostOf,
  type GateSettlement,
  type ReserveOptions,
  reservationOf,
  type SettleOptions,
} from '../reservation.ts'
import { ensureLists, hasLeases, keepsIds, type Rule, type RuleOptions } from '../rule.ts'
import { withShards } from '../sharding/sharded-store.ts'
import { type Check, isSyncStore, type Mode, type Store, syncUnsupported } from '../stores/store.ts'
import type { Gate } from './gate-methods.ts'
import { ownCost, reservable } from './own-cost.ts'
import { type Applied, allFigures, type Counted } from './request-rules.ts'
import type { RuleChanges } from './rule-changes.ts'
import { type CommonRules, type RuleSet, renewedRules } from './rule-set.ts'

/** The gate of a set of rules, which `update` replaces. */
export class RuleGate implements Gate {
  #set: RuleSet
  readonly #common: CommonRules
  /** As it was given, and with the shards of the rules taken apart. */
  readonly #whole: Store
  #store: Store
  readonly #ownsStore: boolean
  readonly #lines: WaitingLines
  readonly #listeners = new Set<(changes: RuleChanges) => void>()
  readonly #skipped = new Map<string, number>()
  #closed = false

  constructor(set: RuleSet, common: CommonRules, store: Store, ownsStore: boolean, lines: WaitingLines) {
    this.#set = set
    this.#common = common
    this.#whole = store
    this.#store = withShards(store, set.rules)
    this.#ownsStore = ownsStore
    this.#lines = lines
  }

  get rules(): readonly Rule[] {
    return this.#set.rules
  }

  get version(): string {
    return this.#set.version
  }

  update(rules: readonly RuleOptions[]): RuleChanges {
    if (this.#closed) throw closedError()
    const [before, after] = [this.#set, renewedRules(rules, this.#common)]
    const changes = after.changesSince(before)
    this.#set = after
    if (this.#store === this.#whole) this.#store = withShards(this.#whole, after.rules)
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

  limit(descriptor: Descriptor, options?: RequestOptions): Promise<Decision> {
    return this.#decide(descriptor, options, 'consume')
  }

  limitSync(descriptor: Descriptor, options?: RequestOptions): Decision {
    return this.#decideSync(descriptor, options, 'consume')
  }

  async acquire(descriptor: Descriptor, options?: AcquireOptions): Promise<Decision> {
    const { request, patience } = acquireOf(options)
    const asked = this.#ask(descriptor, request, 'consume')
    if (asked.checks.length === 0) return this.#answer(asked, [])
    // As it is now, whatever becomes of the object while it waits.
    return this.#lines.wait(this.#question({ ...descriptor }, request, asked), patience)
  }

  #question(descriptor: Descriptor, request: RequestOptions, asked: Asked): Question {
    const question = questionOf(this.#store, asked.checks, (figures) => this.#answer(asked, figures))
    // It keeps the name that it has been asked under.
    const named = question.id === null ? request : { ...request, id: question.id }
    return { ...question, renewed: () => this.#question(descriptor, named, this.#ask(descriptor, named, 'peek')) }
  }

  peek(descriptor: Descriptor, options?: RequestOptions): Promise<Decision> {
    return this.#decide(descriptor, options, 'peek')
  }

  peekSync(descriptor: Descriptor, options?: RequestOptions): Decision {
    return this.#decideSync(descriptor, options, 'peek')
  }

  async refund(descriptor: Descriptor, options?: RefundOptions): Promise<ReadonlyMap<string, number>> {
    const refund = refundOf(options)
    // What passes a rule by has been charged nothing there: it has nothing to give back of what others have.
    const counters = this.#matching(descriptor).filter(({ isCounted }) => isCounted)
    const refunds = counters.map((counter) => ({ counter, of: admissionOf(refund, counter.rule) }))
    const given = await Promise.all(
      refunds.map(async ({ counter, of }): Promise<[string, number]> => {
        const { rule, key } = counter
        const usual = rule.cost === undefined || rule.required ? refund.cost : 1
        const cost = ownCost(rule, descriptor) ?? usual
        return [rule.name, of === null ? 0 : await this.#given(counter, this.#store.refund(rule, key, cost, of))]
      }),
    )
    return new Map(given)
  }

  async reserve(descriptor: Descriptor, options: ReserveOptions): Promise<Decision> {
    const { cost, id, expiresInMs } = reservationOf(options)
    const asked = this.#ask(descriptor, { cost, id }, 'consume')
    const checks = asked.checks.map(({ rule, key }) => ({ rule, key, cost: reservable(rule, descriptor, cost), id }))
    const figures = checks.length === 0 ? [] : await this.#store.reserve(checks, expiresInMs)
    const decision = this.#answer({ ...asked, checks }, figures)
    return { ...decision, id: decision.allowed ? id : null }
  }

  async settle(descriptor: Descriptor, id: string, options: SettleOptions): Promise<GateSettlement> {
    const cost = actualCostOf(options)
    return this.#settle(descriptor, id, (rule) => ownCost(rule, descriptor) ?? cost)
  }

  async cancel(descriptor: Descriptor, id: string): Promise<GateSettlement> {
    return this.#settle(descriptor, id, () => 0)
  }

  async #settle(descriptor: Descriptor, id: string, costOf: (rule: Rule) => number): Promise<GateSettlement> {
    checkId(id)
    const settling = this.#matching(descriptor).map(async ({ rule, key }) => {
      const settlement = await this.#given({ rule, key }, this.#store.settle(rule, key, id, costOf(rule)))
      return { rule: rule.name, ...settlement }
    })
    // One that fails is told once the others are done, so that nothing goes on behind the caller's back.
    await Promise.allSettled(settling)
    const rules = await Promise.all(settling)
    return { settled: rules.some(({ settled }) => settled), rules }
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
    const counter = this.#one(descriptor, options)
    return this.#given(counter, this.#store.unblock(counter.rule, counter.key))
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
  async #given<Result>(counter: Counted, giving: Promise<Result>): Promise<Result> {
    const result = await giving
    this.#lines.wake(countersOf([counter]))
    return result
  }

  async #decide(descriptor: Descriptor, options: RequestOptions | undefined, mode: Mode): Promise<Decision> {
    const asked = this.#ask(descriptor, options, mode)
    const { checks } = asked
    if (checks.length === 0) return this.#answer(asked, [])
    return this.#answer(asked, this.#store.decideNow?.(checks, mode) ?? (await this.#store.decide(checks, mode)))
  }

  #decideSync(descriptor: Descriptor, options: RequestOptions | undefined, mode: Mode): Decision {
    if (!isSyncStore(this.#store)) throw syncUnsupported()
    const asked = this.#ask(descriptor, options, mode)
    return this.#answer(asked, this.#store.decideSync(asked.checks, mode))
  }

  /** The decision by the rules that a request began with. */
  #answer({ checks, uncounted, isPlain, version }: Asked, counted: readonly RuleDecision[]): Decision {
    const [first] = counted
    if (first === undefined && uncounted.length === 0) return decideByNone(this.#store.clock(), version)
    const id = checks.find((check) => check.id !== undefined)?.id ?? null
    const source = first === undefined ? 'store' : (this.#store.sourceOf?.(first) ?? 'store')
    const context = { version, id, atomicity: this.#store.atomicity?.(checks) ?? 'strict', source }
    if (isPlain)
      return counted.length === 1 ? decideByOne(first as RuleDecision, context) : decideByAll(counted, context)
    const rules = checks.map(({ rule }) => rule)
    return decideByEnforced(allFigures(counted, rules, uncounted, first?.at ?? this.#store.clock()), context)
  }

  /** What this request has to pass. */
  #ask(descriptor: Descriptor, options: RequestOptions | undefined, mode: Mode): Asked {
    const requested = costOf(options)
    if (this.#closed) throw closedError()
    const { counters, uncounted, skipped } = this.#set.applied(descriptor)
    if (mode === 'consume') for (const name of skipped) this.#skipped.set(name, (this.#skipped.get(name) ?? 0) + 1)
    const id = counters.some(({ rule }) => keepsIds(rule)) ? requestIdOf(options) : undefined
    const route = options?.id
    const checks = counters.map(({ rule, key, cost = requested }): Check => {
      if (id !== undefined && keepsIds(rule)) return { rule, key, cost, id }
      return route !== undefined && rule.shards > 1 ? { rule, key, cost, route } : { rule, key, cost }
    })
    const isPlain = uncounted.length === 0 && !counters.some(({ rule }) => rule.shadow)
    return { checks, uncounted, isPlain, version: this.#set.version }
  }

  #leases(descriptor: Descriptor): Counted[] {
    const leases = this.#matching(descriptor).filter(({ rule }) => hasLeases(rule))
    if (leases.length > 0) return leases
    throw new TidegateError('ERR_ALGORITHM_UNSUPPORTED', 'no rule that matches has leases: only concurrency has')
  }

  /** The one counter that is meant: of the only rule that matches, or of the one that is named. */
  #one(descriptor: Descriptor, options: { rule?: string } = {}): Counted {
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
  #matching(descriptor: Descriptor): readonly Counted[] {
    if (this.#closed) throw closedError()
    return this.#set.counters(descriptor)
  }
}

function closedError(): TidegateError {
  return new TidegateError('ERR_CLOSED', 'the gate has been closed')
}

/** A request as it is put to the store. */
interface Asked extends Pick<Applied, 'uncounted'> {
  readonly checks: readonly Check[]
  /** Of the rules that the request begins with. */
  readonly version: string
  /** Every rule is decided by the store and enforced, as most are. */
  readonly isPlain: boolean
}
