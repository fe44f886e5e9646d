import type { Admission, Entry } from '../../admission.ts'
import { type Clock, checkClock, systemClock } from '../../clock.ts'
import type { Atomicity, RuleDecision } from '../../decision.ts'
import { invalid, TidegateError } from '../../errors.ts'
import type { Key } from '../../key.ts'
import { checkFields, checkInteger, checkPattern } from '../../options.ts'
import type { Rule } from '../../rule.ts'
import type { Check, Mode, Store } from '../store.ts'
import { encodeBatch, type Pending, type ScriptMode, settleBatch, stateError } from './batch.ts'
import { Batcher } from './batcher.ts'
import { connect, type RedisClient } from './clients/connect.ts'
import { decideCompensated } from './compensated.ts'
import type { Connection } from './connection.ts'
import { readEntries } from './entries.ts'
import { boundInFlight } from './in-flight.ts'
import { quotaWords } from './quotas.ts'
import { DEFAULT_NAMING, redisKey } from './redis-key.ts'
import { isMoving, retry } from './retry.ts'
import { runScript, type Script } from './script.ts'
import { block, decide, entries, refund, renew, unblock } from './scripts.generated.ts'
import { ServerTime } from './server-time.ts'
import { SlotBatcher } from './slot-batcher.ts'
import { type SlotShare, shareBySlot } from './slot-share.ts'

export interface RedisStoreOptions {
  /** The beginning of every Redis key; letters, digits, `_`, `-`, `.` and `:`, at most 32. Default: `tg`. */
  prefix?: string
  /** Milliseconds since the epoch, for tests. Default: the Redis server's own time. */
  clock?: Clock
  /** Stores every key by its hash, so that no user's name can be read in Redis. Default: only those over 128 bytes. */
  hashKeys?: boolean
  /** The most keys in one script call; 1 to 1,000. Default: 32. */
  maxBatch?: number
  /** The most commands that may be on their way to Redis at a time; others wait their turn. 1 to 100,000. Default: 512. */
  maxInFlight?: number
  /** The most decisions that may wait for an answer; more are errors at once. Default: 100,000. */
  maxPending?: number
}

const PREFIX = /^[A-Za-z0-9_.:-]{1,32}$/
const PREFIX_EXPECTED = "1 to 32 letters, digits, '_', '-', '.' or ':'"

/**
 * Counts in Redis (6.2 or later) or Valkey. Decisions made in the same turn of the event loop travel
 * in one script call, which decides them in order by the server's clock.
 *
 * In a cluster they travel in one call for each hash slot. `requiredCommands` lists what an ACL has to allow.
 * @throws TidegateError `ERR_CLIENT_UNSUPPORTED`, `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store {
  const known = ['prefix', 'clock', 'hashKeys', 'maxBatch', 'maxInFlight', 'maxPending']
  const fields = checkFields(options, 'options', known)
  const {
    prefix = DEFAULT_NAMING.prefix,
    clock,
    hashKeys = DEFAULT_NAMING.hashKeys,
    maxBatch = 32,
    maxInFlight = 512,
    maxPending = 100_000,
  } = fields
  if (typeof hashKeys !== 'boolean') throw invalid('ERR_INVALID_OPTION', 'hashKeys', 'true or false', hashKeys)
  const connection = boundInFlight(connect(client), checkInteger(maxInFlight, 'maxInFlight', 1, 100_000))
  return new RedisStore(connection, {
    prefix: checkPattern(prefix, 'prefix', PREFIX, PREFIX_EXPECTED),
    clock: clock === undefined ? undefined : checkClock(clock),
    hashKeys,
    maxBatch: checkInteger(maxBatch, 'maxBatch', 1, 1000),
    maxPending: checkInteger(maxPending, 'maxPending', 1, 10_000_000),
  })
}

/** A server's clock that runs away from ours three times in one request is none to count by. */
const MOST_ATTEMPTS = 3

interface Settings {
  readonly prefix: string
  readonly clock: Clock | undefined
  readonly hashKeys: boolean
  readonly maxBatch: number
  readonly maxPending: number
}

class RedisStore implements Store {
  readonly clock: Clock
  readonly cluster: boolean
  readonly #connection: Connection
  readonly #settings: Settings
  readonly #batcher: Batcher | SlotBatcher
  readonly #serverTime = new ServerTime()
  #closed = false

  constructor(connection: Connection, settings: Settings) {
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

  decide(checks: readonly Check[], mode: Mode): Promise<RuleDecision[]> {
    return this.cluster && checks.length > 1 ? this.#decideInCluster(checks, mode) : this.#decideTogether(checks, mode)
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
    for (const one of [`${name}:held`, name, `${name}:penalties`]) await this.#ask('DEL', [one], one)
  }

  async ping(): Promise<void> {
    this.#ensureOpen()
    await this.#ask('PING', [])
  }

  async close(): Promise<void> {
    this.#batcher.flush()
    this.#closed = true
  }

  async #decideInCluster(checks: readonly Check[], mode: Mode): Promise<RuleDecision[]> {
    const shares = this.#shares(checks)
    if (shares.length === 1) return this.#decideTogether(checks, mode)
    return decideCompensated(checks, shares, mode, {
      decide: (share, how) => this.#decideTogether(share, how),
      refund: ({ rule, key, cost }, of) => this.refund(rule, key, cost, of),
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
  #decideTogether(checks: readonly Check[], mode: ScriptMode): Promise<RuleDecision[]> {
    return new Promise((resolve, reject) => {
      this.#ensureOpen()
      const keys = checks.map(({ rule, key }) => redisKey(rule, key, this.#settings))
      this.#batcher.add({ checks, keys, mode, resolve, reject })
    })
  }

  /**
   * A request that was sent windows of another time than the server's has not been decided. It is sent again, alone, with
   * the windows around the time that the reply gave: one more round trip, for a client whose clock is wrong by more than
   * a window, until it knows by how much.
   */
  async #send(batch: readonly Pending[], attempt = 1): Promise<void> {
    try {
      const now = this.#settings.clock?.()
      const words = encodeBatch(batch, now === undefined ? '' : String(now), now ?? this.#serverTime.now())
      const run = () => runScript(this.#connection, decide, words)
      const reply = await retry(run, { moving: this.cluster && batch.length === 1 })
      const { time, outOfRange } = settleBatch(batch, reply)
      this.#serverTime.seen(time)
      if (outOfRange.length > 0 && attempt === MOST_ATTEMPTS) throw new Error('its time kept running away from ours')
      await Promise.all(outOfRange.map((pending) => this.#send([pending], attempt + 1)))
    } catch (error) {
      // Some keys of the slot are on another node already. One key is always on one node, so each request goes by itself.
      if (this.cluster && batch.length > 1 && isMoving(error)) {
        await Promise.all(batch.map((pending) => this.#send([pending], attempt)))
        return
      }
      const failure = unavailable(error)
      for (const { reject } of batch) reject(failure)
    }
  }

  async #ask(command: string, args: string[], firstKey?: string): Promise<unknown> {
    try {
      return await retry(() => this.#connection.send(command, args, firstKey), { moving: this.cluster })
    } catch (error) {
      throw unavailable(error)
    }
  }

  /** Runs a script of one key, after what was asked before it. */
  async #run(script: Script, rule: Rule, key: Key, words: string[]): Promise<unknown> {
    this.#ensureOpen()
    const name = redisKey(rule, key, this.#settings)
    const now = this.#settings.clock?.()
    this.#batcher.flush(name)
    try {
      const all = ['1', name, now === undefined ? '' : String(now), ...words]
      return await retry(() => runScript(this.#connection, script, all), { moving: this.cluster })
    } catch (error) {
      throw stateError(error, rule, name) ?? unavailable(error)
    }
  }

  #ensureOpen(): void {
    if (this.#closed) throw new TidegateError('ERR_CLOSED', 'the Redis store has been closed')
  }
}

function unavailable(error: unknown): TidegateError {
  if (error instanceof TidegateError) return error
  const message = `Redis: ${error instanceof Error ? error.message : typeof error}`
  return new TidegateError('ERR_STORE_UNAVAILABLE', message, { cause: error })
}
