import type { Entry } from './admission.ts'
import {
  type Decision,
  type DecisionContext,
  decideByOne,
  MAX_COUNT,
  type RuleDecision,
  SOURCES,
  type Source,
} from './decision.ts'
import type { Duration } from './duration.ts'
import { invalid, TidegateError } from './errors.ts'
import type { FailurePolicy } from './failure-policy.ts'
import { checkKey } from './key.ts'
import { type ModeOptions, modeFields } from './leases/lease-options.ts'
import { type LimitOptions, limitFields } from './limit.ts'
import { type AcquireOptions, acquireOf, checkMaxWaiting, type WaitingOptions } from './local/acquire.ts'
import { countersOf, questionOf } from './local/question.ts'
import { WaitingLines } from './local/waiting-lines.ts'
import { checkFields } from './options.ts'
import { type FOREVER, type PenaltyOptions, parseBlock } from './penalty.ts'
import { admissionOf, type RefundOptions, refundOf } from './refund.ts'
import { checkId, costOf, type RequestOptions, requestIdOf } from './request.ts'
import { actualCostOf, type ReserveOptions, reservationOf, type Settlement, type SettleOptions } from './reservation.ts'
import { checkName, compileLimiterRule, ensureLeases, ensureLists, keepsIds, type Rule } from './rule.ts'
import { versionOf } from './rule-version.ts'
import { withShards } from './sharding/sharded-store.ts'
import { memoryStore } from './stores/memory/memory-store.ts'
import { type Check, checkStore, isSyncStore, type Mode, type Store, syncUnsupported } from './stores/store.ts'

export interface LimiterOptions extends LimitOptions, PenaltyOptions, ModeOptions, WaitingOptions {
  /** What the counts are filed under in the store. Required where `store` is given. Default: `limiter`. */
  name?: string
  /** Default: a memory store of the limiter's own. */
  store?: Store
  /** What decides while the store does not answer: `'deny'`, `'allow'`, or `'local'`, this process's share. Default: `'local'`. */
  onStoreFailure?: FailurePolicy
}

/** One limit over many keys. */
export interface Limiter {
  /** Its one rule, checked: `rateLimitHeaders` wants it for the window. */
  readonly rules: readonly Rule[]
  /** A fingerprint of the limit, the same wherever it is made. */
  readonly version: string
  /**
   * Decides one request of `key` and charges it if admitted. A refusal is a value and charges nothing.
   * @throws TidegateError (rejects) `ERR_INVALID_KEY`, `ERR_INVALID_COST`, `ERR_STORE_…`, `ERR_STATE_…`, `ERR_CLOSED`
   */
  limit(key: string, options?: RequestOptions): Promise<Decision>
  /** The same at once, where the store is memory. @throws TidegateError, also `ERR_SYNC_UNSUPPORTED` */
  limitSync(key: string, options?: RequestOptions): Decision
  /**
   * Waits until the request is admitted; in this process first come, first served for each key, calls of `limit` aside.
   * Refused, at once, is what can never be admitted or not within `timeoutMs`, and at that deadline whatever still waits.
   * Rejects with the signal's reason once that is aborted, and has then charged nothing.
   * @throws TidegateError (rejects) as `limit`, and `ERR_INVALID_OPTION`, `ERR_TOO_MANY_WAITING`
   */
  acquire(key: string, options?: AcquireOptions): Promise<Decision>
  /** What `limit` would answer now, without charging. With `cost: 0`: the key as it stands. */
  peek(key: string, options?: RequestOptions): Promise<Decision>
  /** The same at once, where the store is memory. */
  peekSync(key: string, options?: RequestOptions): Decision
  /**
   * Gives back what was admitted: of that one admission, with its decision or id, if it is still live; else of the
   * oldest live ones. Never below 0. Give each decision back once: where admissions are not kept one by one, a second time
   * takes from what others were admitted in the same moment or window.
   * @returns the cost that was given back
   * @throws TidegateError (rejects) as `limit`, and `ERR_INVALID_OPTION`
   */
  refund(key: string, options?: RefundOptions): Promise<number>
  /**
   * Decides as `limit`, for a request whose cost is not known yet: `cost` is charged at once, and `settle` puts the actual
   * cost in its place. A refusal is a value and reserves nothing. Reserving again with the id of a live reservation
   * changes nothing and is charged nothing. What expires unsettled stays charged.
   * @returns a decision whose `id` is the reservation's, `null` where it was refused
   * @throws TidegateError (rejects) as `limit`, and `ERR_INVALID_OPTION`
   */
  reserve(key: string, options: ReserveOptions): Promise<Decision>
  /**
   * Ends a reservation with its actual cost: what was too much is given back, as by `refund`; what was too little is
   * charged now, even past the limit. Settling again changes nothing.
   * @throws TidegateError (rejects) as `limit`; `ERR_INVALID_COST`, with nothing done, also where the key would have used
   * more than 4,294,967,295
   */
  settle(key: string, id: string, options: SettleOptions): Promise<Settlement>
  /** Ends a reservation that has come to nothing: `settle` with a cost of 0. */
  cancel(key: string, id: string): Promise<Settlement>
  /** Ends a lease of `concurrency`. @returns false where it had ended @throws TidegateError, also `ERR_ALGORITHM_UNSUPPORTED` */
  release(key: string, id: string): Promise<boolean>
  /** A lease of `concurrency` lives on for its whole time from now. @returns false where it had ended */
  renew(key: string, id: string): Promise<boolean>
  /** The live admissions of a `sliding-log`, or the live leases of `concurrency`, oldest first. @throws TidegateError, also `ERR_ALGORITHM_UNSUPPORTED` */
  entries(key: string): Promise<Entry[]>
  /** Refuses the key for so long from now, whatever it has used; instead of a block that there is. */
  block(key: string, duration: Duration | typeof FOREVER): Promise<void>
  /** Ends a block, and forgets the penalties of the key. @returns whether it was blocked */
  unblock(key: string): Promise<boolean>
  /** Forgets one key, exactly that: what it has used, its reservations, its block and its penalties. */
  reset(key: string): Promise<void>
  /** Further calls are errors, and so are those that wait. Closes the store if the limiter made it. */
  close(): Promise<void>
}

/**
 * One limit over many keys: exact sliding window, in memory unless a store is given.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function createLimiter(options: LimiterOptions): Limiter {
  const fields = checkFields(options, 'options', [
    ...limitFields,
    'penalty',
    ...modeFields,
    'name',
    'store',
    'onStoreFailure',
    'maxWaiting',
  ])
  if (fields['store'] !== undefined && fields['name'] === undefined) {
    throw invalid('ERR_INVALID_OPTION', 'name', 'a name, because other limiters can use the same store', undefined)
  }
  const name = fields['name'] === undefined ? 'limiter' : checkName(fields['name'], 'name')
  const rule = compileLimiterRule(fields, name)
  const store = options.store === undefined ? memoryStore() : checkStore(options.store)
  const lines = new WaitingLines(checkMaxWaiting(fields['maxWaiting']))
  return new SingleLimiter(rule, store, options.store === undefined, lines)
}

class SingleLimiter implements Limiter {
  readonly #rule: Rule
  readonly rules: readonly Rule[]
  readonly version: string
  readonly #keepsIds: boolean
  readonly #contexts: Readonly<Record<Source, DecisionContext>>
  readonly #store: Store
  readonly #ownsStore: boolean
  readonly #lines: WaitingLines
  #closed = false

  constructor(rule: Rule, store: Store, ownsStore: boolean, lines: WaitingLines) {
    this.#rule = rule
    this.rules = [rule]
    this.version = versionOf(this.rules)
    this.#keepsIds = keepsIds(rule)
    this.#contexts = contextsOf(this.version)
    this.#store = withShards(store, this.rules)
    this.#ownsStore = ownsStore
    this.#lines = lines
  }

  limit(key: string, options?: RequestOptions): Promise<Decision> {
    return this.#decide(key, options, 'consume')
  }

  limitSync(key: string, options?: RequestOptions): Decision {
    return this.#decideSync(key, options, 'consume')
  }

  async acquire(key: string, options?: AcquireOptions): Promise<Decision> {
    this.#ensureOpen()
    const { request, patience } = acquireOf(options)
    const id = this.#idOf(request)
    const check = this.#check(key, request, id)
    const question = questionOf(this.#store, [check], ([figures]) => this.#answer(figures as RuleDecision, id))
    return this.#lines.wait(question, patience)
  }

  peek(key: string, options?: RequestOptions): Promise<Decision> {
    return this.#decide(key, options, 'peek')
  }

  peekSync(key: string, options?: RequestOptions): Decision {
    return this.#decideSync(key, options, 'peek')
  }

  async refund(key: string, options?: RefundOptions): Promise<number> {
    this.#ensureOpen()
    const refund = refundOf(options)
    const of = admissionOf(refund, this.#rule)
    return of === null ? 0 : this.#given(key, this.#store.refund(this.#rule, checkKey(key, 'key'), refund.cost, of))
  }

  async reserve(key: string, options: ReserveOptions): Promise<Decision> {
    this.#ensureOpen()
    const { cost, id, expiresInMs } = reservationOf(options)
    const check = { rule: this.#rule, key: checkKey(key, 'key'), cost, id }
    const [figures] = (await this.#store.reserve([check], expiresInMs)) as [RuleDecision]
    return this.#answer(figures, figures.allowed ? id : undefined)
  }

  async settle(key: string, id: string, options: SettleOptions): Promise<Settlement> {
    this.#ensureOpen()
    const cost = actualCostOf(options)
    return this.#given(key, this.#store.settle(this.#rule, checkKey(key, 'key'), checkId(id), cost))
  }

  cancel(key: string, id: string): Promise<Settlement> {
    return this.settle(key, id, { cost: 0 })
  }

  async release(key: string, id: string): Promise<boolean> {
    this.#ensureOpen()
    ensureLeases(this.#rule)
    const of = { at: undefined, id: checkId(id) }
    return (await this.#given(key, this.#store.refund(this.#rule, checkKey(key, 'key'), MAX_COUNT, of))) > 0
  }

  async renew(key: string, id: string): Promise<boolean> {
    this.#ensureOpen()
    ensureLeases(this.#rule)
    return this.#store.renew(this.#rule, checkKey(key, 'key'), checkId(id))
  }

  async entries(key: string): Promise<Entry[]> {
    this.#ensureOpen()
    ensureLists(this.#rule)
    return this.#store.entries(this.#rule, checkKey(key, 'key'))
  }

  async block(key: string, duration: Duration | typeof FOREVER): Promise<void> {
    this.#ensureOpen()
    await this.#store.block(this.#rule, checkKey(key, 'key'), parseBlock(duration, 'duration'))
  }

  async unblock(key: string): Promise<boolean> {
    this.#ensureOpen()
    return this.#given(key, this.#store.unblock(this.#rule, checkKey(key, 'key')))
  }

  async reset(key: string): Promise<void> {
    this.#ensureOpen()
    await this.#given(key, this.#store.reset(this.#rule, checkKey(key, 'key')))
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#lines.close(closedError())
    if (this.#ownsStore) await this.#store.close()
  }

  /** What gives something back to a key lets whoever waits for it ask again. */
  async #given<Result>(key: string, giving: Promise<Result>): Promise<Result> {
    const result = await giving
    this.#lines.wake(countersOf([{ rule: this.#rule, key }]))
    return result
  }

  async #decide(key: string, options: RequestOptions | undefined, mode: Mode): Promise<Decision> {
    if (isSyncStore(this.#store)) return this.#decideSync(key, options, mode)
    this.#ensureOpen()
    const id = this.#idOf(options)
    const checks = [this.#check(key, options, id)]
    const [figures] = this.#store.decideNow?.(checks, mode) ?? (await this.#store.decide(checks, mode))
    return this.#answer(figures as RuleDecision, id)
  }

  #decideSync(key: string, options: RequestOptions | undefined, mode: Mode): Decision {
    this.#ensureOpen()
    const store = this.#store
    if (!isSyncStore(store)) throw syncUnsupported()
    const id = this.#idOf(options)
    if (this.#rule.shards > 1) {
      return this.#answer(store.decideSync([this.#check(key, options, id)], mode)[0] as RuleDecision, id)
    }
    // A memory store checks a key when it is new to it: the known ones need no second look.
    const name = typeof key === 'string' ? key : checkKey(key, 'key')
    return this.#answer(store.decideOneSync(this.#rule, name, costOf(options), mode, id), id)
  }

  #check(key: string, options: RequestOptions | undefined, id: string | undefined): Check {
    const check: Check = { rule: this.#rule, key: checkKey(key, 'key'), cost: costOf(options) }
    if (id !== undefined) return { ...check, id }
    const route = this.#rule.shards > 1 ? options?.id : undefined
    return route === undefined ? check : { ...check, route }
  }

  #idOf(options: RequestOptions | undefined): string | undefined {
    return this.#keepsIds ? requestIdOf(options) : undefined
  }

  #answer(figures: RuleDecision, id: string | undefined): Decision {
    const source = this.#store.sourceOf?.(figures) ?? 'store'
    const context = this.#contexts[source]
    return decideByOne(figures, id === undefined ? context : { ...context, id })
  }

  #ensureOpen(): void {
    if (this.#closed) throw closedError()
  }
}

/** What stands of a decision besides its figures, made up once for each source. */
function contextsOf(version: string): Record<Source, DecisionContext> {
  const contexts = SOURCES.map((source) => [source, { version, id: null, atomicity: 'strict', source }])
  return Object.fromEntries(contexts) as Record<Source, DecisionContext>
}

function closedError(): TidegateError {
  return new TidegateError('ERR_CLOSED', 'the limiter has been closed')
}
