import type { Clock } from '../clock.ts'
import type { RuleDecision } from '../decision.ts'
import { invalid, TidegateError } from '../errors.ts'
import type { Key } from '../key.ts'
import type { Rule } from '../rule.ts'

/** One limit that a request has to pass. */
export interface Check {
  readonly rule: Rule
  /** The value of the rule's one dimension, or the values of its dimensions in their order. */
  readonly key: Key
  /** A whole number from 0. A cost of 0 reads and never writes. */
  readonly cost: number
}

/** `consume` charges what is admitted; `peek` answers the same and writes nothing. */
export type Mode = 'consume' | 'peek'

/**
 * Where counts live. A store promises one thing: the checks of one request are decided in one
 * atomic step, all-or-nothing. A check that would pass alone but whose request was refused by
 * another comes back allowed, with its figures uncharged.
 */
export interface Store {
  /** This process's reading of the store's clock: for decisions that need no store. */
  readonly clock: Clock
  /** True where keys in different hash slots cannot be decided in one atomic step. */
  readonly cluster?: boolean
  /**
   * Decides one request: the figures of each of its checks, in order. Checks have distinct keys.
   * @throws TidegateError `ERR_INVALID_KEY`, `ERR_STATE_…`, `ERR_STORE_…`, `ERR_CLOSED`; nothing is then charged
   */
  decide(checks: readonly Check[], mode: Mode): Promise<RuleDecision[]>
  /** Forgets one key, exactly that. */
  reset(rule: Rule, key: Key): Promise<void>
  /** Asks the store whether it is there. Rejects if not. */
  ping(): Promise<void>
  /** Releases what the store itself has opened; a client handed in stays open. */
  close(): Promise<void>
}

/** A store inside this process, which can answer at once. */
export interface SyncStore extends Store {
  decideSync(checks: readonly Check[], mode: Mode): RuleDecision[]
  /** The same for a request with one check, without the arrays. */
  decideOneSync(rule: Rule, key: Key, cost: number, mode: Mode): RuleDecision
}

export function isSyncStore(store: Store): store is SyncStore {
  return 'decideSync' in store
}

/**
 * Refuses what is no store before it is first used.
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function checkStore(store: unknown): Store {
  const candidate = store as Record<string, unknown> | null | undefined
  const methods = [...METHODS, ...(candidate?.['decideSync'] === undefined ? [] : SYNC_METHODS)]
  if (methods.every((method) => typeof candidate?.[method] === 'function')) return store as Store
  throw invalid('ERR_INVALID_OPTION', 'store', 'a store, such as memoryStore() or redisStore(client)', store)
}

const METHODS: readonly (keyof Store)[] = ['clock', 'decide', 'reset', 'ping', 'close']
const SYNC_METHODS: readonly (keyof SyncStore)[] = ['decideSync', 'decideOneSync']

/** The error of a synchronous call where the answer comes over a network. */
export function syncUnsupported(): TidegateError {
  return new TidegateError('ERR_SYNC_UNSUPPORTED', 'limitSync and peekSync need a memory store; use limit and peek')
}
