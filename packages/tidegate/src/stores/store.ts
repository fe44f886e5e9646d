import type { Admission, Entry } from '../admission.ts'
import type { Clock } from '../clock.ts'
import type { Atomicity, RuleDecision, Source } from '../decision.ts'
import { invalid, TidegateError } from '../errors.ts'
import type { Key } from '../key.ts'
import type { Settlement } from '../reservation.ts'
import type { StoreHealth } from '../resilience/store-health.ts'
import type { Rule } from '../rule.ts'

/** One limit that a request has to pass. */
export interface Check {
  readonly rule: Rule
  /** The value of the rule's one dimension, or the values of its dimensions in their order. */
  readonly key: Key
  /** A whole number from 0. A cost of 0 reads and never writes. */
  readonly cost: number
  /** The request's id, where the rule's algorithm keeps it. */
  readonly id?: string
  /** The request's id, where it was given one and the rule is split: it decides the shard. */
  readonly route?: string
}

/** One limit of which something is reserved: its cost is from 1, and every algorithm is told the id. */
export interface Reserve extends Check {
  readonly id: string
}

/** `consume` charges what is admitted; `peek` answers the same and writes nothing. */
export type Mode = 'consume' | 'peek'

/**
 * Where counts live. A store promises one thing: the checks of one request are decided in one
 * atomic step, all-or-nothing. A check that would pass alone but whose request was refused by
 * another comes back allowed, with its figures uncharged. A check whose rule is in shadow refuses
 * nobody: where it does not admit the request it is answered so, and is not charged, and the others are
 * as if it were not there; where it does, it is charged if they all are. Costs can differ between checks.
 */
export interface Store {
  /** This process's reading of the store's clock: for decisions that need no store. */
  readonly clock: Clock
  /** True where keys can lie on several servers, so that not every request can be decided in one step. */
  readonly cluster?: boolean
  /** How these checks are decided together. Without it: all in one step. */
  atomicity?(checks: readonly Check[]): Atomicity
  /**
   * Decides one request: the figures of each of its checks, in order. Checks have distinct keys.
   * @param until ms of the monotonic clock (`performance.now()`): nobody waits for an answer after that, and what has not been
   * done by then is not to be done. Default: for ever
   * @throws TidegateError `ERR_INVALID_KEY`, `ERR_STATE_…`, `ERR_STORE_…`, `ERR_CLOSED`; nothing is then charged
   */
  decide(checks: readonly Check[], mode: Mode, until?: number): Promise<RuleDecision[]>
  /**
   * The figures of a request that can be answered here and now, without asking; undefined where the store must be asked.
   * `decide` does not look here itself: whoever asks one asks the other first.
   */
  decideNow?(checks: readonly Check[], mode: Mode): readonly RuleDecision[] | undefined
  /** Where figures that `decide` or `decideNow` gave were made. Without it: in the store. */
  sourceOf?(figures: RuleDecision): Source
  /**
   * Says that an instance lives for so many ms more; with 0, that it leaves. Resolves to how many live. Without it a store
   * cannot tell how many share its limits.
   */
  heartbeat?(instance: string, lifeMs: number): Promise<number>
  /**
   * Decides as `decide`, and where the request is admitted remembers for so many ms from now, by key and id, what each
   * check has charged. A check whose reservation is live already is admitted, unless blocked, and charged nothing; of
   * `concurrency`, one whose lease is live, which is renewed.
   */
  reserve(checks: readonly Reserve[], expiresInMs: number, until?: number): Promise<RuleDecision[]>
  /**
   * Ends a reservation, with this cost in the place of what was reserved: the difference is given back as a refund of
   * that admission, or charged now, past the limit too. A lease of `concurrency` costs as much from now on, and with 0
   * has ended; one that had ended already is left alone.
   * @throws TidegateError also `ERR_INVALID_COST`, where the key would have used more than 4,294,967,295; nothing is done
   */
  settle(rule: Rule, key: Key, id: string, cost: number): Promise<Settlement>
  /**
   * Gives back up to `cost`: of that one admission if it is still live, else (`of` undefined) of the oldest live ones.
   * @returns what was given back
   */
  refund(rule: Rule, key: Key, cost: number, of: Admission | undefined): Promise<number>
  /** A lease lives on for its whole time from now. @returns false where it has ended, or the rule has no leases */
  renew(rule: Rule, key: Key, id: string): Promise<boolean>
  /** The live admissions of a rule that keeps them one by one, oldest first. */
  entries(rule: Rule, key: Key): Promise<Entry[]>
  /** Refuses a key for so many ms from now, infinite for ever, whatever it has used; instead of a block that there is. */
  block(rule: Rule, key: Key, durationMs: number): Promise<void>
  /** Ends a block, and forgets its penalties. @returns whether it was blocked */
  unblock(rule: Rule, key: Key): Promise<boolean>
  /** Forgets one key, exactly that, its block and its reservations with it. */
  reset(rule: Rule, key: Key): Promise<void>
  /** What the store says of itself, to be warned of. */
  inspect?(): Promise<StoreHealth>
  /** Asks the store whether it is there. Rejects if not. */
  ping(): Promise<void>
  /** Releases what the store itself has opened; a client handed in stays open. */
  close(): Promise<void>
}

/** A store inside this process, which can answer at once. */
export interface SyncStore extends Store {
  decideSync(checks: readonly Check[], mode: Mode): RuleDecision[]
  /** The same for a request with one check, without the arrays. */
  decideOneSync(rule: Rule, key: Key, cost: number, mode: Mode, id?: string): RuleDecision
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

const METHODS: readonly (keyof Store)[] = [
  'clock',
  'decide',
  'reserve',
  'settle',
  'refund',
  'renew',
  'entries',
  'block',
  'unblock',
  'reset',
  'ping',
  'close',
]
const SYNC_METHODS: readonly (keyof SyncStore)[] = ['decideSync', 'decideOneSync']

/** The error of a synchronous call where the answer comes over a network. */
export function syncUnsupported(): TidegateError {
  return new TidegateError('ERR_SYNC_UNSUPPORTED', 'limitSync and peekSync need a memory store; use limit and peek')
}

/** Whether a request is admitted: by every check that is enforced. */
export function passesAll(checks: readonly Check[], figures: readonly RuleDecision[]): boolean {
  return figures.every(({ allowed }, i) => allowed || checks[i]?.rule.shadow === true)
}
