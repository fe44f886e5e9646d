import type { Admission, Entry } from '../../admission.ts'
import { type Clock, monotonicClock, systemClock } from '../../clock.ts'
import type { Atomicity, RuleDecision } from '../../decision.ts'
import { TidegateError } from '../../errors.ts'
import type { Key } from '../../key.ts'
import type { Settlement } from '../../reservation.ts'
import type { StoreHealth } from '../../resilience/store-health.ts'
import type { Rule } from '../../rule.ts'
import type { Check, Mode, Reserve, Store, Waiter } from '../store.ts'
import { Batcher } from './batcher.ts'
import { decideCompensated } from './compensated.ts'
import type { Connection } from './connection.ts'
import { encodeBatch } from './encode-batch.ts'
import { readEntries } from './entries.ts'
import { readInfo } from './info.ts'
import { earliestOf, lateAt, timeWord } from './late.ts'
import { everyRequest } from './merging.ts'
import type { Pending, ScriptMode } from './pending.ts'
import { quotaWords } from './quotas.ts'
import { redisKey } from './redis-key.ts'
import { isMoving, retry } from './retry.ts'
import { runScript, type Script } from './script.ts'
import { block, decide, entries, heartbeat, refund, renew, reserve, settle, unblock } from './scripts.generated.ts'
import { ServerTime } from './server-time.ts'
import { settleBatch } from './settle-batch.ts'
import { readSettlement } from './settlement.ts'
import { SlotBatcher } from './slot-batcher.ts'
import { type SlotShare, shareBySlot } from './slot-share.ts'
import { stateError } from './state-error.ts'
import { stillWaiting, unavailable } from './unavailable.ts'

/** A server's clock that runs away from ours three times in one request is none to count by. */
const MOST_ATTEMPTS = 3
const RUNS_AWAY = 'its time kept running away from ours'

export interface ScriptedStoreSettings {
  readonly prefix: string
  readonly clock: Clock | undefined
  readonly hashKeys: boolean
  readonly maxBatch: number
  readonly maxPending: number
  /** How long an operation that is no decision may take, ms; infinite where nobody counts. */
  readonly operationMs: number
  /** Is told of each batch, with its number of keys. */
  readonly onBatch?: (keys: number) => void
}

/** How a batch is decided: the script, and the words behind those of the batch. */
interface Way {
  readonly script: Script
  readonly words: readonly string[]
  /** What the key beside each key is called that the script names too; `''`: there is none. */
  readonly beside: string
}

/** Behind the name of a key: its reservations. */
const RESERVED = ':reserved'

const DECIDE: Way = { script: decide, words: [], beside: '' }

/** Counts in Redis, by its scripts. */
export class ScriptedStore implements Store {
  readonly clock: Clock
  readonly cluster: boolean
  readonly #connection: Connection
  readonly #settings: ScriptedStoreSettings
  readonly #batcher: Batcher | SlotBatcher
  readonly #serverTime = new ServerTime()
  #closed = false

  constructor(connection: Connection, settings: ScriptedStoreSettings) {
    this.#connection = connection
    this.#settings = settings
    this.clock = settings.clock ?? systemClock
    this.cluster = connection.cluster
    const { maxBatch, maxPending } = settings
    const options = { send: (batch: Pending[]) => this.#send(batch), maxBatch, maxPending }
    const { cluster, keysApart = false } = connection
    this.#batcher = cluster ? new SlotBatcher({ ...options, keysApart }) : new Batcher(options)
  }

  atomicity(checks: readonly Check[]): Atomicity {
    return this.cluster && checks.length > 1 && this.#shares(checks).length > 1 ? 'compensated' : 'strict'
  }

  decide(checks: readonly Check[], mode: Mode, until = Number.POSITIVE_INFINITY): Promise<RuleDecision[]> {
    if (this.cluster && checks.length > 1) return this.#decideInCluster(checks, mode, until)
    return this.#decideTogether(checks, mode, until)
  }

  decideFor(checks: readonly Check[], mode: Mode, until: number, waiter: Waiter): void {
    if (!this.cluster || checks.length === 1) this.#addToBatch(checks, mode, until, waiter)
    else
      this.#decideInCluster(checks, mode, until).then(
        (figures) => waiter.resolve(figures),
        (error: unknown) => waiter.reject(error),
      )
  }

  reserve(checks: readonly Reserve[], expiresInMs: number, until = Number.POSITIVE_INFINITY): Promise<RuleDecision[]> {
    const way = { script: reserve, words: [String(expiresInMs)], beside: RESERVED }
    const shares = this.cluster && checks.length > 1 ? this.#shares(checks) : []
    if (shares.length < 2) return this.#decideAtOnce(checks, 'consume', way, until)
    return decideCompensated(checks, shares, 'consume', {
      decide: (share, how) => this.#decideAtOnce(share, how, way, until),
      giveBack: ({ rule, key, cost, id }, { at, usedBefore = 0 }) =>
        this.#settle(rule, key, [id as string, '0', String(at), String(cost), String(usedBefore)]),
    })
  }

  settle(rule: Rule, key: Key, id: string, cost: number): Promise<Settlement> {
    return this.#settle(rule, key, [id, String(cost)])
  }

  async #settle(rule: Rule, key: Key, whose: readonly string[]): Promise<Settlement> {
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
      const quota = quotaWords(rule, this.#settings.clock?.() ?? this.#serverTime.now())
      const sent = monotonicClock()
      const reply = await this.#run(settle, rule, key, [String(quota.length), ...quota, ...whose], RESERVED)
      const { time, settlement } = readSettlement(reply, rule, Number(whose[1]))
      this.#serverTime.seen(time, sent)
      if (settlement !== undefined) return settlement
    }
    throw unavailable(new Error(RUNS_AWAY))
  }

  async refund(rule: Rule, key: Key, cost: number, of: Admission | undefined): Promise<number> {
    const one = ['one', String(of?.at ?? ''), of?.id ?? '', String(of?.usedBefore ?? 0)]
    const whose = of === undefined ? ['oldest', '', '', '0'] : one
    return Number(await this.#run(refund, rule, key, [...this.#quotaOf(rule), String(cost), ...whose]))
  }

  async renew(rule: Rule, key: Key, id: string): Promise<boolean> {
    return (await this.#run(renew, rule, key, [...this.#quotaOf(rule), id])) === 1
  }

  async entries(rule: Rule, key: Key): Promise<Entry[]> {
    const words = this.#quotaOf(rule)
    return readEntries(rule, (after, last) => this.#run(entries, rule, key, [...words, after, last]))
  }

  async block(rule: Rule, key: Key, durationMs: number): Promise<void> {
    await this.#run(block, rule, key, [durationMs === Number.POSITIVE_INFINITY ? '-1' : String(durationMs)])
  }

  async unblock(rule: Rule, key: Key): Promise<boolean> {
    return (await this.#run(unblock, rule, key, [])) === 1
  }

  async reset(rule: Rule, key: Key): Promise<void> {
    this.#ensureOpen()
    const name = redisKey(rule, key, this.#settings)
    // What was asked before the reset is sent before it (and is sent again after it, if the server has lost the script).
    this.#batcher.flush(name)
    // One by one: the keys of a slot that moves can be on two nodes.
    const all = [`${name}:held`, name, `${name}:penalties`, `${name}${RESERVED}`]
    for (const one of all) await this.#ask('DEL', [one], one)
  }

  async heartbeat(instance: string, lifeMs: number): Promise<number> {
    this.#ensureOpen()
    const words = [
      '1',
      `${this.#settings.prefix}:instances`,
      String(this.#settings.clock?.() ?? ''),
      instance,
      String(lifeMs),
    ]
    try {
      return Number(await retry(() => runScript(this.#connection, heartbeat, words), { moving: this.cluster }))
    } catch (error) {
      throw unavailable(error)
    }
  }

  async inspect(): Promise<StoreHealth> {
    this.#ensureOpen()
    const sent = monotonicClock()
    const [seconds, microseconds] = (await this.#ask('TIME', [])) as [string, string]
    this.#serverTime.seen(Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000), sent)
    return { ...readInfo(await this.#ask('INFO', [])), skewMs: this.#serverTime.skewMs() }
  }

  async ping(): Promise<void> {
    this.#ensureOpen()
    await this.#ask('PING', [])
  }

  async close(): Promise<void> {
    this.#batcher.flush()
    this.#closed = true
  }

  async #decideInCluster(checks: readonly Check[], mode: Mode, until: number): Promise<RuleDecision[]> {
    const shares = this.#shares(checks)
    if (shares.length === 1) return this.#decideTogether(checks, mode, until)
    return decideCompensated(checks, shares, mode, {
      decide: (share, how) => this.#decideTogether(share, how, until),
      giveBack: ({ rule, key, cost }, of) => this.refund(rule, key, cost, of),
    })
  }

  /** A rule's quota as the scripts of one key take it, its number of words first. */
  #quotaOf(rule: Rule): string[] {
    const words = quotaWords(rule, this.#serverTime.now())
    return [String(words.length), ...words]
  }

  #shares(checks: readonly Check[]): SlotShare[] {
    return shareBySlot(
      checks,
      checks.map(({ rule, key }) => redisKey(rule, key, this.#settings)),
    )
  }

  /** Checks whose keys share a slot: in the next batch, as one step. */
  #decideTogether(checks: readonly Check[], mode: ScriptMode, until: number): Promise<RuleDecision[]> {
    return new Promise((resolve, reject) => this.#addToBatch(checks, mode, until, { resolve, reject }))
  }

  #addToBatch(checks: readonly Check[], mode: ScriptMode, until: number, waiter: Waiter): void {
    this.#ensureOpen()
    const keys = checks.map(({ rule, key }) => redisKey(rule, key, this.#settings))
    this.#batcher.add({ checks, keys, mode, until, waiter, alike: undefined })
  }

  /** The same in a script call of its own, after what was asked before it. */
  #decideAtOnce(checks: readonly Check[], mode: ScriptMode, way: Way, until: number): Promise<RuleDecision[]> {
    return new Promise((resolve, reject) => {
      this.#ensureOpen()
      const keys = checks.map(({ rule, key }) => redisKey(rule, key, this.#settings))
      this.#batcher.flush(keys[0])
      void this.#send([{ checks, keys, mode, until, waiter: { resolve, reject }, alike: undefined }], way)
    })
  }

  /**
   * A request that was sent windows of another time than the server's has not been decided. It is sent again, alone, with
   * the windows around the time that the reply gave: one more round trip, for a client whose clock is wrong by more than
   * a window, until it knows by how much.
   */
  async #send(requests: readonly Pending[], way = DECIDE, attempt = 1): Promise<void> {
    const sent = monotonicClock()
    const earliest = earliestOf(requests)
    const batch = earliest > sent ? requests : stillWaiting(requests, sent)
    if (batch.length === 0) return
    this.#settings.onBatch?.(batch.reduce((sum, { keys }) => sum + keys.length, 0))
    try {
      const now = this.#settings.clock?.()
      const until = batch === requests ? earliest : earliestOf(batch)
      const words = encodeBatch(batch, this.#timeWord(until), now ?? this.#serverTime.now(), way.beside)
      for (const word of way.words) words.push(word)
      const run = () => runScript(this.#connection, way.script, words)
      const reply = await retry(run, { moving: this.cluster && batch.length === 1, until })
      const { time, outOfRange } = settleBatch(batch, reply)
      this.#serverTime.seen(time, sent)
      if (outOfRange.length > 0 && attempt === MOST_ATTEMPTS) throw new Error(RUNS_AWAY)
      await Promise.all(outOfRange.map((pending) => this.#send([pending], way, attempt + 1)))
    } catch (error) {
      // Nothing was done. Where somebody still waits, the server's time was not what it was taken for.
      if (this.#wasLate(error, sent)) {
        // Those who wait no longer leave the batch: the others have lost no attempt by them.
        const isMisjudged = earliestOf(batch) > monotonicClock()
        if (!isMisjudged) return this.#send(batch, way, attempt)
        if (attempt < MOST_ATTEMPTS) return this.#send(batch, way, attempt + 1)
      }
      // Some keys of the slot are on another node already. One key is always on one node, so each request goes by itself.
      if (this.cluster && batch.length > 1 && isMoving(error)) {
        await Promise.all(batch.map((pending) => this.#send([pending], way, attempt)))
        return
      }
      const failure = unavailable(error)
      for (const { waiter } of everyRequest(batch)) waiter.reject(failure)
    }
  }

  async #ask(command: string, args: string[], firstKey?: string): Promise<unknown> {
    try {
      return await retry(() => this.#connection.send(command, args, firstKey), { moving: this.cluster })
    } catch (error) {
      throw unavailable(error)
    }
  }

  /** The first argument of a script that must not act after `until`, by the monotonic clock. */
  #timeWord(until: number): string {
    const latest = until === Number.POSITIVE_INFINITY ? undefined : this.#serverTime.latest(until)
    return timeWord(this.#settings.clock?.(), latest)
  }

  /** Whether a script came too late, by which the server's time is known. */
  #wasLate(error: unknown, sent: number): boolean {
    const time = lateAt(error)
    if (time !== undefined) this.#serverTime.seen(time, sent)
    return time !== undefined
  }

  /** Runs a script of one key, and perhaps of one beside it, after what was asked before it. */
  async #run(script: Script, rule: Rule, key: Key, words: string[], beside = ''): Promise<unknown> {
    this.#ensureOpen()
    const name = redisKey(rule, key, this.#settings)
    const sent = monotonicClock()
    const until = sent + this.#settings.operationMs
    this.#batcher.flush(name)
    try {
      const names = beside === '' ? ['1', name] : ['2', name, name + beside]
      const run = () => runScript(this.#connection, script, [...names, this.#timeWord(until), ...words])
      return await retry(run, { moving: this.cluster, until })
    } catch (error) {
      if (this.#wasLate(error, sent) && monotonicClock() < until) return this.#run(script, rule, key, words, beside)
      throw stateError(error, rule, name) ?? unavailable(error)
    }
  }

  #ensureOpen(): void {
    if (this.#closed) throw new TidegateError('ERR_CLOSED', 'the Redis store has been closed')
  }
}
