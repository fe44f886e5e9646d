import { type Clock, checkClock, forwards } from '../../clock.ts'
import { invalid } from '../../errors.ts'
import type { LeasingStore } from '../../leases/lease-state.ts'
import { LeasedStore } from '../../leases/leased-store.ts'
import { checkObserver } from '../../observer.ts'
import { checkFields, checkInteger, checkPattern } from '../../options.ts'
import { type GuardOptions, guardFields, guardSettings } from '../../resilience/guard-options.ts'
import type { GuardedStore } from '../../resilience/guard-state.ts'
import { guard, OPERATION_MS } from '../../resilience/guarded-store.ts'
import { warningsTo } from '../../resilience/watch.ts'
import type { Store } from '../store.ts'
import { connect, type RedisClient } from './clients/connect.ts'
import { boundInFlight } from './in-flight.ts'
import { DEFAULT_NAMING } from './redis-key.ts'
import { ScriptedStore } from './scripted-store.ts'

export interface RedisStoreOptions extends GuardOptions {
  /**
   * Whether the store keeps requests from waiting (`deadlineMs`, `breaker`) and decides without Redis when it does not
   * answer, by the `onStoreFailure` of the rules. Without it whoever asks waits as long as the client does, and gets the error.
   * Default: true.
   */
  guarded?: boolean
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
export function redisStore(client: RedisClient, options: RedisStoreOptions & { guarded: false }): Store & LeasingStore
export function redisStore(client: RedisClient, options?: RedisStoreOptions): GuardedStore & LeasingStore
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store {
  const known = ['prefix', 'clock', 'hashKeys', 'maxBatch', 'maxInFlight', 'maxPending', 'guarded', ...guardFields]
  const fields = checkFields(options, 'options', known)
  const {
    prefix = DEFAULT_NAMING.prefix,
    clock,
    hashKeys = DEFAULT_NAMING.hashKeys,
    maxBatch = 32,
    maxInFlight = 512,
    maxPending = 100_000,
    guarded = true,
  } = fields
  const observer = checkObserver(fields['observer'])
  if (typeof hashKeys !== 'boolean') throw invalid('ERR_INVALID_OPTION', 'hashKeys', 'true or false', hashKeys)
  if (typeof guarded !== 'boolean') throw invalid('ERR_INVALID_OPTION', 'guarded', 'true or false', guarded)
  const connection = boundInFlight(
    connect(client, warningsTo(observer)),
    checkInteger(maxInFlight, 'maxInFlight', 1, 100_000),
  )
  const ownClock = clock === undefined ? undefined : checkClock(clock)
  const scripted = new ScriptedStore(connection, {
    prefix: checkPattern(prefix, 'prefix', PREFIX, PREFIX_EXPECTED),
    clock: ownClock,
    hashKeys,
    maxBatch: checkInteger(maxBatch, 'maxBatch', 1, 1000),
    maxPending: checkInteger(maxPending, 'maxPending', 1, 10_000_000),
    operationMs: guarded ? OPERATION_MS : Number.POSITIVE_INFINITY,
  })
  const guardOptions = Object.fromEntries(guardFields.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])))
  const settings = guardSettings(guardOptions)
  const store = new LeasedStore(scripted, {
    instances: settings.instances,
    observer,
    ...(ownClock && { now: forwards(ownClock) }),
  })
  return guarded ? guard(store, guardOptions) : store
}
