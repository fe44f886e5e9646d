import { type Clock, checkClock, systemClock } from '../../clock.ts'
import type { RuleDecision } from '../../decision.ts'
import { invalid, TidegateError } from '../../errors.ts'
import { checkEach, encodeKey, type Key } from '../../key.ts'
import { checkFields, checkInteger, checkPattern } from '../../options.ts'
import type { Rule } from '../../rule.ts'
import type { Check, Mode, Store } from '../store.ts'
import { encodeBatch, type Pending, settleBatch } from './batch.ts'
import { Batcher } from './batcher.ts'
import { connect, type RedisClient } from './clients/connect.ts'
import type { Connection } from './connection.ts'
import { decideAcrossSlots } from './decide-across-slots.ts'
import { isMoving, retry } from './retry.ts'
import { runScript } from './script.ts'
import { decide } from './scripts.generated.ts'
import { SlotBatcher } from './slot-batcher.ts'
import { shareBySlot } from './slot-share.ts'

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
 * In a cluster they travel in one call for each hash slot. `requiredCommands` lists what an ACL has to allow.
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
  readonly cluster: boolean
  readonly #connection: Connection
  readonly #settings: Settings
  readonly #batcher: Batcher | SlotBatcher
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

  decide(checks: readonly Check[], mode: Mode): Promise<RuleDecision[]> {
    return new Promise((resolve, reject) => {
      this.#ensureOpen()
      const keys = checks.map(({ rule, key }) => this.#keyOf(rule, key))
      const shares = this.cluster && checks.length > 1 ? shareBySlot(checks, keys) : []
      if (shares.length > 1) resolve(decideAcrossSlots(shares, mode, (share) => this.decide(share, mode)))
      else this.#batcher.add({ checks, keys, mode, resolve, reject })
    })
  }

  async reset(rule: Rule, key: Key): Promise<void> {
    this.#ensureOpen()
    const name = this.#keyOf(rule, key)
    // What was asked before the reset is sent before it (and is sent again after it, if the server has lost the script).
    this.#batcher.flush()
    await this.#ask('DEL', [name], name)
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
      const attempt = () => runScript(this.#connection, decide, words)
      settleBatch(batch, await retry(attempt, { moving: this.cluster && batch.length === 1 }))
    } catch (error) {
      // Some keys of the slot are on another node already. One key is always on one node, so each request goes by itself.
      if (this.cluster && batch.length > 1 && isMoving(error)) {
        await Promise.all(batch.map((pending) => this.#send([pending])))
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

  #ensureOpen(): void {
    if (this.#closed) throw new TidegateError('ERR_CLOSED', 'the Redis store has been closed')
  }
}

function unavailable(error: unknown): TidegateError {
  if (error instanceof TidegateError) return error
  const message = `Redis: ${error instanceof Error ? error.message : typeof error}`
  return new TidegateError('ERR_STORE_UNAVAILABLE', message, { cause: error })
}
