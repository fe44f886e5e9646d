import type { Admission, Entry } from '../../admission.ts'
import { type Clock, monotonicClock } from '../../clock.ts'
import type { Atomicity, RuleDecision, Source } from '../../decision.ts'
import type { Key } from '../../key.ts'
import type { LeaseState, LeasingStore } from '../../leases/lease-state.ts'
import { notify, type Observer } from '../../observer.ts'
import type { Settlement } from '../../reservation.ts'
import type { GuardedStore, GuardState } from '../../resilience/guard-state.ts'
import type { StoreHealth } from '../../resilience/store-health.ts'
import type { Rule } from '../../rule.ts'
import { type Check, type Mode, passesAll, type Reserve, type Store } from '../store.ts'
import { CoarseBuckets } from './coarse-buckets.ts'
import { DeniedRequests, type Sent } from './denied-requests.ts'
import { type FrontOptions, frontSettings } from './front-options.ts'

/**
 * A store that answers some refusals in this process, before anybody asks: what the store behind it has just refused, and, of
 * rules that are `coarse`, what could not be admitted beside all that is on its way there.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function frontStore(store: GuardedStore, options?: FrontOptions): GuardedStore
export function frontStore(store: Store & LeasingStore, options?: FrontOptions): Store & LeasingStore
export function frontStore(store: Store, options?: FrontOptions): Store
export function frontStore(store: Store, options: FrontOptions = {}): Store {
  return new FrontStore(store, options)
}

class FrontStore implements Store {
  readonly clock: Clock
  readonly cluster: boolean
  readonly atomicity?: (checks: readonly Check[]) => Atomicity
  readonly heartbeat?: (instance: string, lifeMs: number) => Promise<number>
  readonly inspect?: () => Promise<StoreHealth>
  readonly guardState?: () => GuardState
  readonly leaseState?: () => LeaseState
  readonly #store: Store
  readonly #denied: DeniedRequests | undefined
  readonly #coarse: CoarseBuckets
  readonly #observer: Observer
  readonly #now: Clock
  readonly #isInjected: boolean

  constructor(store: Store, options: FrontOptions) {
    const { clock, deniedCache, maxDeniedKeys, leadMs, observer } = frontSettings(options)
    this.#store = store
    this.clock = store.clock
    this.cluster = store.cluster === true
    this.#observer = observer
    this.#isInjected = clock !== undefined
    this.#now = clock ?? monotonicClock
    this.#denied = deniedCache ? new DeniedRequests(maxDeniedKeys) : undefined
    this.#coarse = new CoarseBuckets(maxDeniedKeys, this.#isInjected ? 0 : leadMs)
    const { guardState, leaseState } = store as Partial<GuardedStore>
    if (store.atomicity !== undefined) this.atomicity = store.atomicity.bind(store)
    if (store.heartbeat !== undefined) this.heartbeat = store.heartbeat.bind(store)
    if (store.inspect !== undefined) this.inspect = store.inspect.bind(store)
    if (guardState !== undefined) this.guardState = guardState.bind(store)
    if (leaseState !== undefined) this.leaseState = leaseState.bind(store)
  }

  decideNow(checks: readonly Check[], mode: Mode): readonly RuleDecision[] | undefined {
    const now = this.#now()
    const denied = this.#denied?.find(checks, now)
    if (denied !== undefined) return this.#refused('denied-cache', checks, denied)
    const shed = checks.some(isCoarse) ? this.#coarse.shed(checks, now, this.clock) : undefined
    if (shed !== undefined) return this.#refused('coarse', checks, shed)
    return this.#store.decideNow?.(checks, mode)
  }

  decide(checks: readonly Check[], mode: Mode, until?: number): Promise<RuleDecision[]> {
    if (mode === 'consume' && checks.some(isCoarse)) return this.#decideCoarse(checks, until)
    return this.#decideAndLearn(checks, mode, until)
  }

  /** Charged by the bucket while it is on its way, and longer where it is admitted. */
  async #decideCoarse(checks: readonly Check[], until: number | undefined): Promise<RuleDecision[]> {
    this.#coarse.take(checks, this.#now())
    let isAdmitted = false
    try {
      const figures = await this.#decideAndLearn(checks, 'consume', until)
      isAdmitted = this.#isOfStore(figures) && passesAll(checks, figures)
      return figures
    } finally {
      if (!isAdmitted) this.#coarse.putBack(checks, this.#now())
    }
  }

  #decideAndLearn(checks: readonly Check[], mode: Mode, until: number | undefined): Promise<RuleDecision[]> {
    const sent = this.#denied?.sent(this.#now())
    const deciding = this.#store.decide(checks, mode, until)
    if (sent === undefined) return deciding
    return deciding.then((figures) => {
      if (this.#isOfStore(figures)) this.#learn(checks, figures, sent, mode === 'consume')
      return figures
    })
  }

  sourceOf(figures: RuleDecision): Source {
    if (this.#denied?.has(figures)) return 'denied-cache'
    if (this.#coarse.has(figures)) return 'coarse'
    return this.#store.sourceOf?.(figures) ?? 'store'
  }

  async reserve(checks: readonly Reserve[], expiresInMs: number, until?: number): Promise<RuleDecision[]> {
    const figures = await this.#store.reserve(checks, expiresInMs, until)
    if (passesAll(checks, figures)) this.#denied?.charged(checks)
    return figures
  }

  async settle(rule: Rule, key: Key, id: string, cost: number): Promise<Settlement> {
    const settlement = await this.#changing(rule, key, this.#store.settle(rule, key, id, cost))
    this.#coarse.giveBack(rule, key, settlement.refunded, this.#now())
    return settlement
  }

  async refund(rule: Rule, key: Key, cost: number, of: Admission | undefined): Promise<number> {
    const given = await this.#changing(rule, key, this.#store.refund(rule, key, cost, of))
    this.#coarse.giveBack(rule, key, given, this.#now())
    return given
  }

  renew(rule: Rule, key: Key, id: string): Promise<boolean> {
    return this.#store.renew(rule, key, id)
  }

  entries(rule: Rule, key: Key): Promise<Entry[]> {
    return this.#store.entries(rule, key)
  }

  block(rule: Rule, key: Key, durationMs: number): Promise<void> {
    return this.#changing(rule, key, this.#store.block(rule, key, durationMs))
  }

  unblock(rule: Rule, key: Key): Promise<boolean> {
    return this.#changing(rule, key, this.#store.unblock(rule, key))
  }

  async reset(rule: Rule, key: Key): Promise<void> {
    await this.#changing(rule, key, this.#store.reset(rule, key))
    this.#coarse.forget(rule, key)
  }

  ping(): Promise<void> {
    return this.#store.ping()
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  #refused(source: 'denied-cache' | 'coarse', checks: readonly Check[], figures: readonly RuleDecision[]) {
    if (this.#observer.refusedHere !== undefined) {
      const by = figures.filter(({ allowed }, i) => !allowed && checks[i]?.rule.shadow === false)
      notify(this.#observer, 'refusedHere', { source, rules: by.map(({ rule }) => rule) })
    }
    return figures
  }

  /** Figures that were made in the store's place say nothing of it. */
  #isOfStore(figures: readonly RuleDecision[]): boolean {
    const { sourceOf } = this.#store
    return sourceOf === undefined || figures.every((one) => sourceOf.call(this.#store, one) === 'store')
  }

  #learn(checks: readonly Check[], figures: readonly RuleDecision[], sent: Sent, isCharged: boolean): void {
    const now = this.#now()
    // By a clock of the store's own the figures are as old as their request at most, and count from their arrival.
    const at = this.#isInjected ? (figures[0] as RuleDecision).at : now
    // A clock that was set back: the store decides by the latest time that it has seen.
    const isOdd = this.#isInjected && (at < sent.at || at > now || figures.some((one) => one.at !== at))
    if (!isOdd) this.#denied?.learn(checks, figures, sent, at, isCharged)
    else if (isCharged) this.#denied?.charged(checks)
  }

  /** Nothing is known any more of a counter that is being changed, nor what was asked of it before it was. */
  async #changing<Result>(rule: Rule, key: Key, change: Promise<Result>): Promise<Result> {
    this.#denied?.forget(rule, key)
    try {
      return await change
    } finally {
      this.#denied?.forget(rule, key)
    }
  }
}

function isCoarse({ rule }: Check): boolean {
  return rule.coarse
}
