import type { Admission, Entry } from '../../admission.ts'
import { type Clock, checkClock, systemClock } from '../../clock.ts'
import type { RuleDecision } from '../../decision.ts'
import { invalid, TidegateError } from '../../errors.ts'
import { checkEach, encodeKey, type Key } from '../../key.ts'
import { checkFields, checkInteger, checkPattern } from '../../options.ts'
import type { Rule } from '../../rule.ts'
import type { Check, Mode, Store } from '../store.ts'
import { encodeBatch, type Pending, settleBatch, stateError } from './batch.ts'
import { Batcher } from './batcher.ts'
import { type Connection, connect, type RedisClient } from './connection.ts'
import { readEntries } from './entries.ts'
import { quotaWords } from './quotas.ts'
import { runScript, type Script } from './script.ts'
import { block, decide, entries, refund, renew, unblock } from './scripts.generated.ts'

export interface RedisStoreOptions {
  /** The beginning of every Redis key; letters, digits, `_`, `-`, `.` and `:`, at most 32. Default: `tg`. */
  prefix?: string
  /** Milliseconds since the epoch, for tests. Default: the Redis server's own time. */
  clock?: Clock
  /** Stores every key by its hash, so that no user's name can be read in Redis. Default: only those over 128 bytes. */
  hashKeys?: boolean
  /** The most keys in one script call; 1 to 1,000. Default: 32. */
  maxBatch?: number
  /** The most decisions that may wait for an answer; more are errors at once. Default: 100,000. */
  maxPending?: number
}

const PREFIX = /^[A-Za-z0-9_.:-]{1,32}$/
const PREFIX_EXPECTED = "1 to 32 letters, digits, '_', '-', '.' or ':'"

/**
 * Counts in Redis (6.2 or later) or Valkey. Decisions made in the same turn of the event loop travel
 * in one script call, which decides them in order by the server's clock.
 *
 * Needs of the server: EVALSHA, EVAL, DEL, PING, and within the script TIME, GETRANGE, SET, SETRANGE, PEXPIRE; for the
 * algorithms that list admissions also ZRANGE, ZADD, ZREM, ZREMRANGEBYSCORE, ZREMRANGEBYRANK, ZCOUNT, ZCARD;
 * for leases ZSCORE, ZMSCORE, ZRANK, ZRANGEBYSCORE.
 * @throws TidegateError `ERR_CLIENT_UNSUPPORTED`, `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store {
  const known = ['prefix', 'clock', 'hashKeys', 'maxBatch', 'maxPending']
  const fields = checkFields(options, 'options', known)
  const { prefix = 'tg', clock, hashKeys = false, maxBatch = 32, maxPending = 100_000 } = fields
  if (typeof hashKeys !== 'boolean') throw invalid('ERR_INVALID_OPTION', 'hashKeys', 'true or false', hashKeys)
  return new RedisStore(connect(client), {
    prefix: checkPattern(prefix, 'prefix', PREFIX, PREFIX_EXPECTED),
    clock: clock === undefined ? undefined : checkClock(clock),
    hashKeys,
    maxBatch: checkInteger(maxBatch, 'maxBatch', 1, 1000),
    maxPending: checkInteger(maxPending, 'maxPending', 1, 10_000_000),
  })
}

interface Settings {
  readonly prefix: string
  readonly clock: Clock | undefined
  readonly hashKeys: boolean
  readonly maxBatch: number
  readonly maxPending: number
}

class RedisStore implements Store {
  readonly clock: Clock
  readonly #connection: Connection
  readonly #settings: Settings
  readonly #batcher: Batcher
  #closed = false

  constructor(connection: Connection, settings: Settings) {
    this.#connection = connection
    this.#settings = settings
    this.clock = settings.clock ?? systemClock
    const { maxBatch, maxPending } = settings
    this.#batcher = new Batcher({ send: (batch) => this.#send(batch), maxBatch, maxPending })
  }

  decide(checks: readonly Check[], mode: Mode): Promise<RuleDecision[]> {
    return new Promise((resolve, reject) => {
      this.#ensureOpen()
      const keys = checks.map(({ rule, key }) => this.#keyOf(rule, key))
      this.#batcher.add({ checks, keys, mode, resolve, reject })
    })
  }

  async refund(rule: Rule, key: Key, cost: number, of: Admission | undefined): Promise<number> {
    const quota = quotaWords(rule)
    const words = [String(quota.length), ...quota, String(cost), String(of?.at ?? ''), of?.id ?? '']
    return Number(await this.#run(refund, rule, key, words))
  }

  async renew(rule: Rule, key: Key, id: string): Promise<boolean> {
    const quota = quotaWords(rule)
    return (await this.#run(renew, rule, key, [String(quota.length), ...quota, id])) === 1
  }

  async entries(rule: Rule, key: Key): Promise<Entry[]> {
    const quota = quotaWords(rule)
    const words = [String(quota.length), ...quota]
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
    const name = this.#keyOf(rule, key)
    // What was asked before the reset is sent before it (and is sent again after it, if the server has lost the script).
    this.#batcher.flush()
    await this.#ask('DEL', [name, `${name}:held`, `${name}:penalties`])
  }

  async ping(): Promise<void> {
    this.#ensureOpen()
    await this.#ask('PING', [])
  }

  async close(): Promise<void> {
    this.#batcher.flush()
    this.#closed = true
  }

  /**
   * `<prefix>:{<values>}:<rule>.<fingerprint>`. The values stand in the hash tag, so that rules that
   * count by the same dimensions share a slot of a cluster; the fingerprint covers the state's format.
   */
  #keyOf(rule: Rule, key: Key): string {
    const { prefix, hashKeys } = this.#settings
    checkEach(key)
    return `${prefix}:{${encodeKey(key, hashKeys)}}:${rule.id}`
  }

  async #send(batch: Pending[]): Promise<void> {
    try {
      const { clock } = this.#settings
      const words = encodeBatch(batch, clock === undefined ? '' : String(clock()))
      settleBatch(batch, await runScript(this.#connection, decide, words))
    } catch (error) {
      const failure = unavailable(error)
      for (const { reject } of batch) reject(failure)
    }
  }

  /** Runs a script of one key, after what was asked before it. */
  async #run(script: Script, rule: Rule, key: Key, words: string[]): Promise<unknown> {
    this.#ensureOpen()
    const name = this.#keyOf(rule, key)
    const now = this.#settings.clock?.()
    this.#batcher.flush()
    try {
      return await runScript(this.#connection, script, ['1', name, now === undefined ? '' : String(now), ...words])
    } catch (error) {
      throw stateError(error, rule, name) ?? unavailable(error)
    }
  }

  async #ask(command: string, args: string[]): Promise<unknown> {
    try {
      return await this.#connection.send(command, args)
    } catch (error) {
      throw unavailable(error)
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
