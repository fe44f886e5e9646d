import type { Admission, Entry } from '../admission.ts'
import type { Clock } from '../clock.ts'
import type { Atomicity, RuleDecision, Source } from '../decision.ts'
import type { Key } from '../key.ts'
import type { Settlement } from '../reservation.ts'
import type { Rule } from '../rule.ts'
import { type Check, isSyncStore, type Mode, type Reserve, type Store, type SyncStore } from '../stores/store.ts'
import { oldestFirst } from './oldest-first.ts'
import { shardKey, shardOfId, shardRule, Turns } from './routes.ts'

/** The store itself, or where any of the rules is split, one that takes each of its keys apart into shards. */
export function withShards(store: Store, rules: readonly Rule[]): Store {
  if (rules.every(({ shards }) => shards === 1)) return store
  return isSyncStore(store) ? new SyncShardedStore(store) : new ShardedStore(store)
}

/** A shard as the store below counts it: the rule with its part of the limit, and a key of its own. */
interface Shard {
  readonly rule: Rule
  readonly key: Key
}

/**
 * Counts each key of a rule with `shards` under as many keys of another store, each with its part of the limit. A request
 * goes to the shard that its id says, or to the next in turn, and is decided by that one alone: so nothing more is
 * admitted than the limit, and no node of a cluster has all of a hot key.
 */
class ShardedStore implements Store {
  readonly clock: Clock
  readonly cluster: boolean
  readonly #store: Store
  readonly turns = new Turns()

  constructor(store: Store) {
    this.#store = store
    this.clock = store.clock
    this.cluster = store.cluster === true
  }

  atomicity(checks: readonly Check[]): Atomicity {
    // Each shard has its own slot.
    if (this.cluster && checks.length > 1 && checks.some(({ rule }) => rule.shards > 1)) return 'compensated'
    return this.#store.atomicity?.(checks) ?? 'strict'
  }

  sourceOf(figures: RuleDecision): Source {
    return this.#store.sourceOf?.(figures) ?? 'store'
  }

  decideNow(checks: readonly Check[], mode: Mode): readonly RuleDecision[] | undefined {
    if (this.#store.decideNow === undefined) return undefined
    const shards = this.shardsOf(checks)
    const figures = this.#store.decideNow(routedTo(checks, shards), mode)
    if (figures === undefined) return undefined
    // Where there is no answer the turn is not over: it is asked again.
    if (mode === 'consume') this.pass(checks)
    return withShardsSaid(figures, shards)
  }

  async decide(checks: readonly Check[], mode: Mode, until?: number): Promise<RuleDecision[]> {
    const shards = this.shardsOf(checks)
    const routed = routedTo(checks, shards)
    if (mode === 'consume') this.pass(checks)
    return withShardsSaid(await this.#store.decide(routed, mode, until), shards)
  }

  async reserve(checks: readonly Reserve[], expiresInMs: number, until?: number): Promise<RuleDecision[]> {
    const shards = this.shardsOf(checks)
    return withShardsSaid(await this.#store.reserve(routedTo(checks, shards), expiresInMs, until), shards)
  }

  settle(rule: Rule, key: Key, id: string, cost: number): Promise<Settlement> {
    const shard = shardFor(rule, key, id)
    return this.#store.settle(shard.rule, shard.key, id, cost)
  }

  async refund(rule: Rule, key: Key, cost: number, of: Admission | undefined): Promise<number> {
    if (rule.shards === 1) return this.#store.refund(rule, key, cost, of)
    if (of !== undefined && (of.shard !== undefined || of.id !== undefined)) {
      const shard = of.shard ?? shardOfId(of.id as string, rule.shards)
      if (shard < 0 || shard >= rule.shards) return 0
      return this.#store.refund(shardRule(rule, shard), shardKey(key, shard), cost, of)
    }
    const shards = of === undefined ? await oldestFirst(this.#store, shardsOf(rule, key)) : shardsOf(rule, key)
    let given = 0
    for (const shard of shards) {
      if (given === cost) break
      given += await this.#store.refund(shard.rule, shard.key, cost - given, of)
    }
    return given
  }

  renew(rule: Rule, key: Key, id: string): Promise<boolean> {
    const shard = shardFor(rule, key, id)
    return this.#store.renew(shard.rule, shard.key, id)
  }

  async entries(rule: Rule, key: Key): Promise<Entry[]> {
    const all = await Promise.all(shardsOf(rule, key).map((shard) => this.#store.entries(shard.rule, shard.key)))
    return all.length === 1 ? (all[0] as Entry[]) : all.flat().sort((one, other) => one.at - other.at)
  }

  async block(rule: Rule, key: Key, durationMs: number): Promise<void> {
    await everyOne(shardsOf(rule, key).map((shard) => this.#store.block(shard.rule, shard.key, durationMs)))
  }

  async unblock(rule: Rule, key: Key): Promise<boolean> {
    const were = await everyOne(shardsOf(rule, key).map((shard) => this.#store.unblock(shard.rule, shard.key)))
    return were.some(Boolean)
  }

  async reset(rule: Rule, key: Key): Promise<void> {
    await everyOne(shardsOf(rule, key).map((shard) => this.#store.reset(shard.rule, shard.key)))
  }

  ping(): Promise<void> {
    return this.#store.ping()
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** The shard of each check; undefined where its rule has none. Two of one rule and key would have the same turn. */
  protected shardsOf(checks: readonly Check[]): (number | undefined)[] {
    return checks.map(({ rule, key, id, route = id }) => {
      if (rule.shards === 1) return undefined
      return route === undefined ? this.turns.next(rule, key) : shardOfId(route, rule.shards)
    })
  }

  /** Those who came without an id have had their turn. */
  protected pass(checks: readonly Check[]): void {
    for (const { rule, key, id, route = id } of checks) {
      if (rule.shards > 1 && route === undefined) this.turns.pass(rule, key)
    }
  }
}

class SyncShardedStore extends ShardedStore implements SyncStore {
  readonly #store: SyncStore

  constructor(store: SyncStore) {
    super(store)
    this.#store = store
  }

  decideSync(checks: readonly Check[], mode: Mode): RuleDecision[] {
    const shards = this.shardsOf(checks)
    const figures = this.#store.decideSync(routedTo(checks, shards), mode)
    if (mode === 'consume') this.pass(checks)
    return withShardsSaid(figures, shards)
  }

  decideOneSync(rule: Rule, key: Key, cost: number, mode: Mode, id?: string): RuleDecision {
    const check = id === undefined ? { rule, key, cost } : { rule, key, cost, id }
    return this.decideSync([check], mode)[0] as RuleDecision
  }
}

function routedTo<One extends Check>(checks: readonly One[], shards: readonly (number | undefined)[]): One[] {
  return checks.map((check, i) => {
    const shard = shards[i]
    if (shard === undefined) return check
    const { route: _, ...routed } = check
    return { ...routed, rule: shardRule(check.rule, shard), key: shardKey(check.key, shard) } as unknown as One
  })
}

/** The figures are the store's own, made for this answer: they are told their shard as they are. */
function withShardsSaid<Figures extends readonly RuleDecision[]>(
  figures: Figures,
  shards: readonly (number | undefined)[],
): Figures {
  for (const [i, shard] of shards.entries()) {
    if (shard !== undefined) (figures[i] as { shard?: number }).shard = shard
  }
  return figures
}

function shardFor(rule: Rule, key: Key, id: string): Shard {
  if (rule.shards === 1) return { rule, key }
  const shard = shardOfId(id, rule.shards)
  return { rule: shardRule(rule, shard), key: shardKey(key, shard) }
}

/** All shards of a key; the key itself where it has none. */
function shardsOf(rule: Rule, key: Key): Shard[] {
  if (rule.shards === 1) return [{ rule, key }]
  return Array.from({ length: rule.shards }, (_, shard) => ({
    rule: shardRule(rule, shard),
    key: shardKey(key, shard),
  }))
}

/** What one shard fails at is told once the others are done. */
async function everyOne<Result>(asked: Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(asked)
  return Promise.all(asked)
}
