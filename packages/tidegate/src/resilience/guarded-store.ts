import type { Admission, Entry } from '../admission.ts'
import { type Clock, monotonicClock } from '../clock.ts'
import type { Atomicity, RuleDecision, Source } from '../decision.ts'
import type { Key } from '../key.ts'
import { type LeaseState, type LeasingStore, NO_LEASES } from '../leases/lease-state.ts'
import { type FallbackCause, notify, type Observer } from '../observer.ts'
import { checkFields } from '../options.ts'
import { type Settlement, UNSETTLED } from '../reservation.ts'
import type { Rule } from '../rule.ts'
import { type Check, checkStore, type Mode, passesAll, type Reserve, type Store } from '../stores/store.ts'
import type { Warn } from '../warning.ts'
import { Breaker, type Permit } from './breaker.ts'
import { Deadlines } from './deadlines.ts'
import { causeOf, isAnswered, isRefusal, noAnswer, notAsked } from './failure.ts'
import { Fallback } from './fallback.ts'
import { type GuardOptions, type GuardSettings, guardFields, guardSettings } from './guard-options.ts'
import type { Decide, Place } from './guard-questions.ts'
import type { GuardedStore, GuardState } from './guard-state.ts'
import { Membership } from './membership.ts'
import { TimeLimit } from './time-limit.ts'
import { StoreWatch, warningsTo } from './watch.ts'

/**
 * A store that keeps no request waiting. A decision for which the store has not answered by its deadline, or answers with an
 * error, is made here by the `onStoreFailure` of its rules; one that comes late is dropped. A store that fails again
 * and again is not asked until it has answered a probe. Decisions then have the source `local`.
 *
 * Mistakes of the caller, and states that cannot be read, are errors as before. The other operations are errors after a
 * second, or at once while the breaker is open.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function guard(store: Store, options: GuardOptions = {}): GuardedStore {
  return new StoreGuard(checkStore(store), guardSettings(checkFields(options, 'options', guardFields)))
}

/** How long the operations may take that are no decisions, or `deadlineMs` where that is longer. Ms. */
export const OPERATION_MS = 1_000

class StoreGuard implements GuardedStore {
  readonly clock: Clock
  readonly cluster: boolean
  readonly #store: Store
  readonly #settings: GuardSettings
  readonly #observer: Observer
  readonly #breaker: Breaker
  readonly #decisions: Deadlines
  readonly #operations: TimeLimit
  readonly #membership: Membership
  readonly #watch: StoreWatch
  readonly #warn: Warn
  readonly #fallback: Fallback
  /** Figures that were made here. */
  readonly #local = new WeakSet<RuleDecision>()
  readonly #fallbacks = { deadline: 0, breaker: 0, error: 0, overload: 0 }
  #lateReplies = 0
  #isRefused = false
  #isUsed = false
  #waiting = 0

  constructor(store: Store, settings: GuardSettings) {
    const { deadlineMs, observer, maxLocalKeys, instances } = settings
    this.#store = store
    this.#settings = settings
    this.#observer = observer
    this.clock = store.clock
    this.cluster = store.cluster === true
    const onChange = (event: Parameters<NonNullable<Observer['breakerChange']>>[0]) =>
      notify(observer, 'breakerChange', event)
    this.#breaker = new Breaker(settings.breaker, monotonicClock, Math.random, onChange)
    this.#decisions = new Deadlines(deadlineMs, monotonicClock)
    this.#operations = new TimeLimit(Math.max(OPERATION_MS, deadlineMs))
    const { heartbeat, inspect } = store
    this.#warn = warningsTo(observer)
    this.#watch = new StoreWatch(inspect && (() => this.#operations.run(() => inspect.call(store))), this.#warn)
    const beat =
      heartbeat && ((name: string, lifeMs: number) => this.#operations.run(() => heartbeat.call(store, name, lifeMs)))
    this.#membership = new Membership(instances, beat)
    this.#fallback = new Fallback({
      clock: store.clock,
      maxKeys: maxLocalKeys,
      instances: () => this.#membership.instances,
      retryInMs: () => this.#breaker.retryInMs,
    })
  }

  guardState(): GuardState {
    return {
      breaker: this.#breaker.state,
      retryInMs: this.#breaker.retryInMs,
      instances: this.#membership.instances,
      fallbacks: { ...this.#fallbacks },
      lateReplies: this.#lateReplies,
      waiting: this.#waiting,
      health: this.#watch.health,
    }
  }

  atomicity(checks: readonly Check[]): Atomicity {
    return this.#store.atomicity?.(checks) ?? 'strict'
  }

  sourceOf(figures: RuleDecision): Source {
    return this.#local.has(figures) ? 'local' : (this.#store.sourceOf?.(figures) ?? 'store')
  }

  decideNow(checks: readonly Check[], mode: Mode): readonly RuleDecision[] | undefined {
    return this.#store.decideNow?.(checks, mode)
  }

  leaseState(): LeaseState {
    return (this.#store as Partial<LeasingStore>).leaseState?.() ?? NO_LEASES
  }

  decide(checks: readonly Check[], mode: Mode): Promise<RuleDecision[]> {
    return this.#decideBy(checks, {
      there: (until) => this.#store.decide(checks, mode, until),
      here: () => this.#fallback.decide(checks, mode),
    })
  }

  reserve(checks: readonly Reserve[], expiresInMs: number): Promise<RuleDecision[]> {
    return this.#decideBy(checks, {
      there: (until) => this.#store.reserve(checks, expiresInMs, until),
      here: () => this.#fallback.reserve(checks, expiresInMs),
    })
  }

  settle(rule: Rule, key: Key, id: string, cost: number): Promise<Settlement> {
    return this.#whereItIs<Settlement>({ at: undefined, id }, UNSETTLED, {
      here: (store) => store.settle(this.#fallback.share(rule), key, id, cost),
      there: () => this.#store.settle(rule, key, id, cost),
      isDone: ({ settled }) => settled,
      operation: 'settle',
    })
  }

  refund(rule: Rule, key: Key, cost: number, of: Admission | undefined): Promise<number> {
    return this.#whereItIs(of, 0, {
      here: (store) => store.refund(this.#fallback.share(rule), key, cost, of),
      there: () => this.#store.refund(rule, key, cost, of),
      isDone: (given) => given > 0,
      operation: 'refund',
    })
  }

  renew(rule: Rule, key: Key, id: string): Promise<boolean> {
    return this.#whereItIs({ at: undefined, id }, false, {
      here: (store) => store.renew(this.#fallback.share(rule), key, id),
      there: () => this.#store.renew(rule, key, id),
      isDone: (renewed) => renewed,
      operation: 'renew',
    })
  }

  entries(rule: Rule, key: Key): Promise<Entry[]> {
    return this.#operate('entries', () => this.#store.entries(rule, key))
  }

  /** Blocked here as well: it stays blocked while the store is away. */
  async block(rule: Rule, key: Key, durationMs: number): Promise<void> {
    await this.#fallback.open().block(this.#fallback.share(rule), key, durationMs)
    await this.#operate('block', () => this.#store.block(rule, key, durationMs))
  }

  async unblock(rule: Rule, key: Key): Promise<boolean> {
    await this.#fallback.local?.unblock(this.#fallback.share(rule), key)
    return this.#operate('unblock', () => this.#store.unblock(rule, key))
  }

  async reset(rule: Rule, key: Key): Promise<void> {
    await this.#fallback.local?.reset(this.#fallback.share(rule), key)
    await this.#operate('reset', () => this.#store.reset(rule, key))
  }

  /** Asks whatever the breaker says: an answer is what it waits for. */
  async ping(): Promise<void> {
    try {
      await this.#operations.run(() => this.#store.ping())
    } catch (error) {
      notify(this.#observer, 'storeError', { operation: 'ping', error })
      throw error
    }
    this.#breaker.heard()
  }

  async close(): Promise<void> {
    this.#watch.stop()
    await this.#membership.stop()
    await this.#fallback.close()
    await this.#store.close()
  }

  #decideBy(checks: readonly Check[], decide: Decide): Promise<RuleDecision[]> {
    if (!this.#isUsed) this.#begin()
    const permit = this.#breaker.ask()
    if (permit !== undefined) return this.#ask(permit, checks, decide)
    this.#lookAfter()
    return this.#fallBack('breaker', checks, decide)
  }

  #ask(permit: Permit, checks: readonly Check[], decide: Decide): Promise<RuleDecision[]> {
    return new Promise((resolve, reject) => {
      const fallBack = (cause: FallbackCause, error: unknown) => {
        notify(this.#observer, 'storeError', { operation: 'decide', error })
        resolve(this.#fallBack(cause, checks, decide))
      }
      this.#waiting++
      const deadline = this.#decisions.start((lagMs) => {
        this.#waiting--
        // Where this process stood still for so long, it is not the store that was slow.
        if (lagMs < this.#settings.deadlineMs || this.#breaker.state !== 'closed') this.#breaker.fail(permit)
        fallBack('deadline', noAnswer(this.#settings.deadlineMs))
      })
      /** @returns whether somebody still waits for the answer */
      const isInTime = () => {
        if (!this.#decisions.settle(deadline)) return false
        this.#waiting--
        return true
      }
      const answered = (figures: RuleDecision[]) => {
        if (!isInTime()) return this.#countLate(deadline.at)
        this.#breaker.succeed(permit)
        this.#isRefused = false
        resolve(figures)
      }
      const failed = (error: unknown) => {
        if (!isInTime()) return
        if (isAnswered(error)) this.#breaker.succeed(permit)
        else this.#breaker.fail(permit)
        if (isRefusal(error)) this.#warnOfRefusal(error as Error)
        const cause = causeOf(error)
        if (cause === undefined) reject(error)
        else fallBack(cause, error)
      }
      try {
        decide.there(deadline.at).then(answered, failed)
      } catch (error) {
        failed(error)
      }
    })
  }

  /** Nothing but a warning shows it: requests are decided all the same. Once, until the store decides again. */
  #warnOfRefusal({ message }: Error): void {
    if (this.#isRefused) return
    this.#isRefused = true
    const what = 'the store lets this client do nothing, and each rule decides by its onStoreFailure instead'
    this.#warn({ code: 'TIDEGATE_STORE_REFUSES', message: `${what}: ${message}` })
  }

  /** With the first decision: a store that nobody asks needs no looking after. */
  #begin(): void {
    this.#isUsed = true
    this.#membership.start()
    this.#watch.start()
  }

  async #fallBack(cause: FallbackCause, checks: readonly Check[], decide: Decide): Promise<RuleDecision[]> {
    const figures = await decide.here()
    this.#fallbacks[cause]++
    for (const one of figures) this.#local.add(one)
    if (this.#observer.fallback !== undefined) {
      const rules = figures.map(({ rule, allowed }, i) => {
        return { rule, allowed, policy: (checks[i] as Check).rule.onStoreFailure }
      })
      notify(this.#observer, 'fallback', { cause, allowed: passesAll(checks, figures), rules })
    }
    return figures
  }

  #countLate(at: number): void {
    this.#lateReplies++
    notify(this.#observer, 'lateReply', { lateMs: monotonicClock() - at })
  }

  /** Looks after a store that is not asked, when it is time, and lets nobody wait for that. */
  #lookAfter(): void {
    const permit = this.#breaker.probe()
    if (permit === undefined) return
    this.#operations
      .run(() => this.#store.ping())
      .then(
        () => this.#breaker.succeed(permit),
        () => this.#breaker.fail(permit),
      )
  }

  /** What was admitted here is given back here, and all else there. Where that is not known, here first. */
  async #whereItIs<Result>(
    of: Admission | undefined,
    nothing: Result,
    { here, there, isDone, operation }: Place<Result>,
  ): Promise<Result> {
    const { local } = this.#fallback
    if (local !== undefined && of !== undefined && (of.source ?? 'local') === 'local') {
      const result = await here(local)
      if (isDone(result) || of.source === 'local') return result
    }
    return of?.source === 'local' ? nothing : this.#operate(operation, there)
  }

  async #operate<Result>(operation: string, ask: () => Promise<Result>): Promise<Result> {
    try {
      if (this.#breaker.state === 'open') {
        this.#lookAfter()
        throw notAsked()
      }
      return await this.#operations.run(ask)
    } catch (error) {
      notify(this.#observer, 'storeError', { operation, error })
      throw error
    }
  }
}
