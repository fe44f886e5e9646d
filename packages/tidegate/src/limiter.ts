import { type Decision, decideByOne, type RuleDecision } from './decision.ts'
import { invalid, TidegateError } from './errors.ts'
import { checkKey } from './key.ts'
import { checkFields } from './options.ts'
import { costOf, type RequestOptions } from './request.ts'
import { checkName, compileLimiterRule, type LimitOptions, limitFields, type Rule, versionOf } from './rule.ts'
import { memoryStore } from './stores/memory/memory-store.ts'
import { checkStore, isSyncStore, type Mode, type Store, syncUnsupported } from './stores/store.ts'

export interface LimiterOptions extends LimitOptions {
  /** What the counts are filed under in the store. Required where `store` is given. Default: `limiter`. */
  name?: string
  /** Default: a memory store of the limiter's own. */
  store?: Store
}

/** One limit over many keys. */
export interface Limiter {
  /** Its one rule, checked: `rateLimitHeaders` wants it for the window. */
  readonly rules: readonly Rule[]
  /** A fingerprint of the limit, the same wherever it is made. */
  readonly version: string
  /**
   * Decides one request of `key` and charges it if admitted. A refusal is a value and charges nothing.
   * @throws TidegateError (rejects) `ERR_INVALID_KEY`, `ERR_INVALID_COST`, `ERR_STORE_…`, `ERR_STATE_…`, `ERR_CLOSED`
   */
  limit(key: string, options?: RequestOptions): Promise<Decision>
  /** The same at once, where the store is memory. @throws TidegateError, also `ERR_SYNC_UNSUPPORTED` */
  limitSync(key: string, options?: RequestOptions): Decision
  /** What `limit` would answer now, without charging. With `cost: 0`: the key as it stands. */
  peek(key: string, options?: RequestOptions): Promise<Decision>
  /** The same at once, where the store is memory. */
  peekSync(key: string, options?: RequestOptions): Decision
  /** Forgets one key, exactly that. */
  reset(key: string): Promise<void>
  /** Further calls are errors. Closes the store if the limiter made it. */
  close(): Promise<void>
}

/**
 * One limit over many keys: exact sliding window, in memory unless a store is given.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function createLimiter(options: LimiterOptions): Limiter {
  const fields = checkFields(options, 'options', [...limitFields, 'name', 'store'])
  if (fields['store'] !== undefined && fields['name'] === undefined) {
    throw invalid('ERR_INVALID_OPTION', 'name', 'a name, because other limiters can use the same store', undefined)
  }
  const name = fields['name'] === undefined ? 'limiter' : checkName(fields['name'], 'name')
  const rule = compileLimiterRule(fields, name)
  const store = options.store === undefined ? memoryStore() : checkStore(options.store)
  return new SingleLimiter(rule, store, options.store === undefined)
}

class SingleLimiter implements Limiter {
  readonly #rule: Rule
  readonly rules: readonly Rule[]
  readonly version: string
  readonly #store: Store
  readonly #ownsStore: boolean
  #closed = false

  constructor(rule: Rule, store: Store, ownsStore: boolean) {
    this.#rule = rule
    this.rules = [rule]
    this.version = versionOf(this.rules)
    this.#store = store
    this.#ownsStore = ownsStore
  }

  limit(key: string, options?: RequestOptions): Promise<Decision> {
    return this.#decide(key, options, 'consume')
  }

  limitSync(key: string, options?: RequestOptions): Decision {
    return this.#decideSync(key, options, 'consume')
  }

  peek(key: string, options?: RequestOptions): Promise<Decision> {
    return this.#decide(key, options, 'peek')
  }

  peekSync(key: string, options?: RequestOptions): Decision {
    return this.#decideSync(key, options, 'peek')
  }

  async reset(key: string): Promise<void> {
    this.#ensureOpen()
    await this.#store.reset(this.#rule, checkKey(key, 'key'))
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#ownsStore) await this.#store.close()
  }

  async #decide(key: string, options: RequestOptions | undefined, mode: Mode): Promise<Decision> {
    if (isSyncStore(this.#store)) return this.#decideSync(key, options, mode)
    this.#ensureOpen()
    const check = { rule: this.#rule, key: checkKey(key, 'key'), cost: costOf(options) }
    const [figures] = await this.#store.decide([check], mode)
    return decideByOne(figures as RuleDecision, this.version)
  }

  #decideSync(key: string, options: RequestOptions | undefined, mode: Mode): Decision {
    this.#ensureOpen()
    const store = this.#store
    if (!isSyncStore(store)) throw syncUnsupported()
    // A memory store checks a key when it is new to it: the known ones need no second look.
    const name = typeof key === 'string' ? key : checkKey(key, 'key')
    return decideByOne(store.decideOneSync(this.#rule, name, costOf(options), mode), this.version)
  }

  #ensureOpen(): void {
    if (this.#closed) throw new TidegateError('ERR_CLOSED', 'the limiter has been closed')
  }
}
