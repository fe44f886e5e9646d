import type { Admission, Entry } from '../admission.ts'
import { type Clock, monotonicClock } from '../clock.ts'
import type { Atomicity, RuleDecision, Source } from '../decision.ts'
import { checkEach, type Key } from '../key.ts'
import { NOBODY, notify, type Observer } from '../observer.ts'
import type { Settlement } from '../reservation.ts'
import type { StoreHealth } from '../resilience/store-health.ts'
import type { Rule } from '../rule.ts'
import { type Check, type Mode, passesAll, type Reserve, type Store, type Waiter } from '../stores/store.ts'
import { decideTogether } from './decide-together.ts'
import { LeaseCounts, type LeaseState, type LeasingStore } from './lease-state.ts'
import { leasingOf } from './leasing.ts'
import { Members } from './members.ts'
import type { Batch } from './permits.ts'
import type { Holder, PoolEvents } from './pool-events.ts'
import { Pools } from './pools.ts'

export interface LeasedStoreOptions {
  /** Ms that never go back. Default: `performance.now()`. */
  readonly now?: Clock
  /** The most keys of which permits are held. Default: 100,000. */
  readonly maxKeys?: number
  /** How many instances share the limits, where that is known and fixed. Default: those whose heartbeats the store has seen. */
  readonly instances?: number | undefined
  readonly observer?: Observer
}

const MAX_KEYS = 100_000

/**
 * Decides requests of leased rules from permits that are taken from another store in batches, and everything else there.
 * Permits that nobody uses are given back; those of a process that dies come back when their time is over.
 */
export class LeasedStore implements Store, LeasingStore {
  readonly clock: Clock
  readonly cluster: boolean
  readonly #store: Store
  readonly #now: Clock
  readonly #pools: Pools
  readonly #members: Members
  readonly #observer: Observer
  readonly #counts = new LeaseCounts()
  /** Figures that were made here; those that were made last are asked for at once, and need not be kept. */
  readonly #own = new WeakSet<RuleDecision>()
  #latest: RuleDecision | undefined

  constructor(store: Store, options: LeasedStoreOptions = {}) {
    const { now = monotonicClock, maxKeys = MAX_KEYS, instances, observer = NOBODY } = options
    this.clock = store.clock
    this.cluster = store.cluster === true
    this.#store = store
    this.#now = now
    this.#members = new Members(instances, now)
    this.#observer = observer
    this.#pools = new Pools(maxKeys, this.#events(), now)
  }

  leaseState(): LeaseState {
    return this.#counts.state(this.#pools.size, this.#pools.held())
  }

  atomicity(checks: readonly Check[]): Atomicity {
    // Permits wait here until the store has decided the others: for so long another request may be refused.
    if (checks.length > 1 && checks.some(({ rule }) => leasingOf(rule) !== undefined)) return 'compensated'
    return this.#store.atomicity?.(checks) ?? 'strict'
  }

  sourceOf(figures: RuleDecision): Source {
    if (figures === this.#latest || this.#own.has(figures)) return 'lease'
    return this.#store.sourceOf?.(figures) ?? 'store'
  }

  decideNow(checks: readonly Check[], mode: Mode): readonly RuleDecision[] | undefined {
    // What is only looked at is asked of the store, which knows more.
    if (checks.length !== 1 || mode === 'peek') return undefined
    const { rule, key, cost } = checks[0] as Check
    if (rule.lease === undefined || cost === 0) return undefined
    const pool = this.#pools.find(rule, key)
    if (pool === undefined) return undefined
    const now = this.#now()
    const batch = pool.use(cost, now)
    if (batch === undefined) return undefined
    const figures = pool.permits.figures(now, batch.at)
    this.#latest = figures
    return [figures]
  }

  decide(checks: readonly Check[], mode: Mode, until?: number): Promise<RuleDecision[]> {
    if (!checks.some(isLeased)) return this.#store.decide(checks, mode, until)
    for (const { key } of checks) checkEach(key)
    if (mode === 'peek') return this.#peek(checks, until)
    if (checks.length === 1) return this.#decideOne(checks[0] as Check, until)
    return decideTogether(checks, until ?? Number.POSITIVE_INFINITY, {
      poolFor: (rule, key) => this.#pools.open(rule, key),
      decide: (others, how) => this.#store.decide(others.map(asCounted), how, until),
      own: (figures) => {
        this.#own.add(figures)
        return figures
      },
      now: this.#now,
    })
  }

  decideFor(checks: readonly Check[], mode: Mode, until: number, waiter: Waiter): void {
    if (this.#store.decideFor !== undefined && !checks.some(isLeased)) {
      this.#store.decideFor(checks, mode, until, waiter)
      return
    }
    this.decide(checks, mode, until).then(
      (figures) => waiter.resolve(figures),
      (error: unknown) => waiter.reject(error),
    )
  }

  reserve(checks: readonly Reserve[], expiresInMs: number, until?: number): Promise<RuleDecision[]> {
    return this.#store.reserve(checks.map(asCounted), expiresInMs, until)
  }

  settle(rule: Rule, key: Key, id: string, cost: number): Promise<Settlement> {
    return this.#store.settle(countedBy(rule), key, id, cost)
  }

  /**
   * A permit that was used goes back to those that are held, while these can be used; else to the store. Without an
   * admission only the former: the oldest that the store knows can be permits that somebody still holds.
   */
  async refund(rule: Rule, key: Key, cost: number, of: Admission | undefined): Promise<number> {
    if (leasingOf(rule) === undefined) return this.#store.refund(rule, key, cost, of)
    const pool = this.#pools.find(rule, key)
    let given = 0
    for (const batch of pool?.permits.batches ?? []) {
      if (of !== undefined && batch.at !== of.at) continue
      if (batch.until > this.#now()) given += pool?.refund(batch, cost - given) ?? 0
    }
    if (given === cost || of === undefined) return given
    return given + (await this.#store.refund(countedBy(rule), key, cost - given, of))
  }

  renew(rule: Rule, key: Key, id: string): Promise<boolean> {
    return this.#store.renew(rule, key, id)
  }

  entries(rule: Rule, key: Key): Promise<Entry[]> {
    return this.#store.entries(rule, key)
  }

  async block(rule: Rule, key: Key, durationMs: number): Promise<void> {
    this.#pools.drop(rule, key)?.retire(false)
    await this.#store.block(countedBy(rule), key, durationMs)
  }

  unblock(rule: Rule, key: Key): Promise<boolean> {
    return this.#store.unblock(countedBy(rule), key)
  }

  async reset(rule: Rule, key: Key): Promise<void> {
    const pool = this.#pools.drop(rule, key)
    pool?.retire(true)
    await pool?.drained()
    // Of what has been taken meanwhile the store will know nothing either.
    this.#pools.drop(rule, key)?.retire(true)
    await this.#store.reset(countedBy(rule), key)
  }

  async heartbeat(instance: string, lifeMs: number): Promise<number> {
    const sent = this.#now()
    const instances = (await this.#store.heartbeat?.(instance, lifeMs)) ?? 1
    this.#members.heard(instances, lifeMs, sent)
    return instances
  }

  async inspect(): Promise<StoreHealth> {
    return (await this.#store.inspect?.()) ?? NOTHING_KNOWN
  }

  /** Gives back what is held in vain, and forgets what nobody asks for. A timer does it by itself. */
  tidy(): void {
    this.#pools.tidy()
  }

  ping(): Promise<void> {
    return this.#store.ping()
  }

  /** Gives back what is held, if the store is there to take it. */
  async close(): Promise<void> {
    await this.#pools.close()
    await this.#store.close()
  }

  async #decideOne(check: Check, until: number | undefined): Promise<RuleDecision[]> {
    const { rule, key, cost } = check
    const pool = cost === 0 ? undefined : this.#pools.open(rule, key)
    if (pool === undefined) return this.#store.decide([asCounted(check)], 'consume', until)
    const { figures, batch } = await pool.ask(cost, until ?? Number.POSITIVE_INFINITY)
    if (batch !== undefined) this.#own.add(figures)
    return [figures]
  }

  async #peek(checks: readonly Check[], until: number | undefined): Promise<RuleDecision[]> {
    const now = this.#now()
    const helds = checks.map(({ rule, key }) => this.#pools.find(rule, key)?.usable(now) ?? 0)
    const asked = checks.map((check, i) => {
      const one = asCounted(check)
      const held = helds[i] as number
      return one.cost > one.rule.limit ? one : { ...one, cost: Math.max(0, one.cost - held) }
    })
    const peeked = await this.#store.decide(asked, 'peek', until)
    const admits = passesAll(checks, peeked)
    return peeked.map((figures, i) => {
      const [held, { cost }] = [helds[i] as number, checks[i] as Check]
      if (held === 0) return figures
      // What is held counts in the store, and is used by nobody.
      const charged = figures.allowed && admits ? Math.max(0, cost - held) : 0
      const used = Math.max(0, figures.used - charged - held) + (figures.allowed && admits ? cost : 0)
      const remaining = figures.reason === 'blocked' ? 0 : Math.max(0, figures.limit - used)
      return { ...figures, used, remaining }
    })
  }

  #events(): PoolEvents {
    return {
      take: async ({ leasing: { rule }, key }, permits, until) => {
        const [figures] = await this.#store.decide([{ rule, key, cost: permits }], 'consume', until)
        return figures as RuleDecision
      },
      taken: ({ leasing: { rule } }, permits) => {
        this.#counts.batches++
        this.#counts.taken += permits
        this.#tell(rule, 'taken', permits)
      },
      giveBack: (pool, batch, permits) => void this.#giveBack(pool, batch, permits),
      lost: ({ leasing: { rule } }, permits) => {
        this.#counts.expired += permits
        this.#tell(rule, 'expired', permits)
      },
      now: this.#now,
      most: ({ leasing: { slack, rule } }) => {
        return slack === 0
          ? Number.POSITIVE_INFINITY
          : Math.max(1, Math.floor(slack * rule.limit * this.#members.share))
      },
    }
  }

  /** Nobody can use them any more, whether the store takes them back or not. */
  async #giveBack({ leasing: { rule }, key }: Holder, { at, usedBefore }: Batch, permits: number): Promise<void> {
    const counts = this.#counts
    counts.returning += permits
    const of = { at, id: undefined, usedBefore }
    const given = await this.#pools.returned(this.#store.refund(rule, key, permits, of)).catch(() => 0)
    counts.returning -= permits
    counts.returned += given
    counts.expired += permits - given
    if (given > 0) this.#tell(rule, 'returned', given)
    if (given < permits) this.#tell(rule, 'expired', permits - given)
  }

  #tell({ name }: Rule, what: 'taken' | 'returned' | 'expired', permits: number): void {
    if (this.#observer.lease !== undefined) notify(this.#observer, 'lease', { rule: name, what, permits })
  }
}

const NOTHING_KNOWN: StoreHealth = {
  evictionPolicy: undefined,
  evictedKeys: undefined,
  memoryShare: undefined,
  isReplica: undefined,
  skewMs: undefined,
}

function isLeased({ rule }: Check): boolean {
  return rule.lease !== undefined
}

/** A rule as the store counts by it. */
function countedBy(rule: Rule): Rule {
  return leasingOf(rule)?.rule ?? rule
}

function asCounted<One extends Check>(check: One): One {
  const rule = countedBy(check.rule)
  return rule === check.rule ? check : { ...check, rule }
}
