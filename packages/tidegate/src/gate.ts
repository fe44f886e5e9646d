import { type Decision, decideByAll, decideByNone, decideByOne, type RuleDecision } from './decision.ts'
import { invalid, memberOf, TidegateError } from './errors.ts'
import { isKey, KEY_EXPECTED, type Key } from './key.ts'
import { checkFields, isRecord } from './options.ts'
import { costOf, type RequestOptions } from './request.ts'
import { compileRules, type Rule, type RuleOptions, versionOf } from './rule.ts'
import { memoryStore } from './stores/memory/memory-store.ts'
import { type Check, checkStore, isSyncStore, type Mode, type Store, syncUnsupported } from './stores/store.ts'

/** A request as the rules see it: dimensions and their values, e.g. `{ route: '/order', user: 'u1' }`. */
export type Descriptor = Readonly<Record<string, string>>

export interface GateOptions {
  rules: RuleOptions[]
  /** Default: a memory store of the gate's own. */
  store?: Store
}

/** Many rules over one request: all that match are decided in one atomic step, all-or-nothing. */
export interface Gate {
  /** The rules, checked. */
  readonly rules: readonly Rule[]
  /** A fingerprint of the rules, the same wherever they are loaded. */
  readonly version: string
  /**
   * Decides one request by every rule that matches it; charges all of them or none.
   * @throws TidegateError (rejects) `ERR_INVALID_DESCRIPTOR`, `ERR_INVALID_KEY`, `ERR_INVALID_COST`, `ERR_STORE_…`, `ERR_STATE_…`, `ERR_CLOSED`
   */
  limit(descriptor: Descriptor, options?: RequestOptions): Promise<Decision>
  /** The same at once, where the store is memory. @throws TidegateError, also `ERR_SYNC_UNSUPPORTED` */
  limitSync(descriptor: Descriptor, options?: RequestOptions): Decision
  /** What `limit` would answer now, without charging. */
  peek(descriptor: Descriptor, options?: RequestOptions): Promise<Decision>
  /** The same at once, where the store is memory. */
  peekSync(descriptor: Descriptor, options?: RequestOptions): Decision
  /** Forgets the keys of this request in every rule that matches it; each by itself, so that one can fail alone. */
  reset(descriptor: Descriptor): Promise<void>
  /** How many requests passed each rule by (peeks aside) because a dimension of its key was missing. */
  skipped(): ReadonlyMap<string, number>
  /** Further calls are errors. Closes the store if the gate made it. */
  close(): Promise<void>
}

/**
 * Many rules over one request.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_DUPLICATE_RULE`, `ERR_INVALID_KEY`
 */
export function createGate(options: GateOptions): Gate {
  checkFields(options, 'options', ['rules', 'store'])
  const rules = compileRules(options.rules)
  const store = options.store === undefined ? memoryStore() : checkStore(options.store)
  return new RuleGate(rules, store, options.store === undefined)
}

class RuleGate implements Gate {
  readonly rules: readonly Rule[]
  readonly version: string
  readonly #store: Store
  readonly #ownsStore: boolean
  readonly #skipped = new Map<string, number>()
  #closed = false

  constructor(rules: readonly Rule[], store: Store, ownsStore: boolean) {
    this.rules = rules
    this.version = versionOf(rules)
    this.#store = store
    this.#ownsStore = ownsStore
  }

  async limit(descriptor: Descriptor, options?: RequestOptions): Promise<Decision> {
    return this.#decide(descriptor, options, 'consume')
  }

  limitSync(descriptor: Descriptor, options?: RequestOptions): Decision {
    return this.#decideSync(descriptor, options, 'consume')
  }

  async peek(descriptor: Descriptor, options?: RequestOptions): Promise<Decision> {
    return this.#decide(descriptor, options, 'peek')
  }

  peekSync(descriptor: Descriptor, options?: RequestOptions): Decision {
    return this.#decideSync(descriptor, options, 'peek')
  }

  async reset(descriptor: Descriptor): Promise<void> {
    const checks = this.#checks(descriptor, 0, 'peek')
    await Promise.all(checks.map(({ rule, key }) => this.#store.reset(rule, key)))
  }

  skipped(): ReadonlyMap<string, number> {
    return this.#skipped
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#ownsStore) await this.#store.close()
  }

  async #decide(descriptor: Descriptor, options: RequestOptions | undefined, mode: Mode): Promise<Decision> {
    const checks = this.#checks(descriptor, costOf(options), mode)
    return this.#answer(checks.length === 0 ? [] : await this.#store.decide(checks, mode))
  }

  #decideSync(descriptor: Descriptor, options: RequestOptions | undefined, mode: Mode): Decision {
    if (!isSyncStore(this.#store)) throw syncUnsupported()
    const checks = this.#checks(descriptor, costOf(options), mode)
    return this.#answer(this.#store.decideSync(checks, mode))
  }

  #answer(figures: readonly RuleDecision[]): Decision {
    const [first] = figures
    if (first === undefined) return decideByNone(this.#store.clock(), this.version)
    return figures.length === 1 ? decideByOne(first, this.version) : decideByAll(figures, this.version)
  }

  /** The limits that this request has to pass. */
  #checks(descriptor: Descriptor, cost: number, mode: Mode): Check[] {
    if (this.#closed) throw new TidegateError('ERR_CLOSED', 'the gate has been closed')
    checkDescriptor(descriptor)
    const checks: Check[] = []
    for (const rule of this.rules) {
      if (!rule.match.every(([dimension, value]) => valueIn(descriptor, dimension) === value)) continue
      const key = keyOf(rule, descriptor)
      if (key !== undefined) checks.push({ rule, key, cost })
      else if (mode === 'consume') this.#skipped.set(rule.name, (this.#skipped.get(rule.name) ?? 0) + 1)
    }
    return checks
  }
}

/**
 * Refuses what is no descriptor.
 * @throws TidegateError `ERR_INVALID_DESCRIPTOR`, `ERR_INVALID_KEY`
 */
function checkDescriptor(descriptor: unknown): void {
  const expected = 'an object that gives dimensions their values, such as { route: "/order", user: "u1" }'
  if (!isRecord(descriptor)) throw invalid('ERR_INVALID_DESCRIPTOR', 'descriptor', expected, descriptor)
  for (const dimension in descriptor) {
    const value = descriptor[dimension]
    if (!isKey(value)) throw invalid('ERR_INVALID_KEY', memberOf('descriptor', dimension), KEY_EXPECTED, value)
    if (!isKey(dimension))
      throw invalid('ERR_INVALID_KEY', 'descriptor', `dimensions that are ${KEY_EXPECTED}`, dimension)
  }
}

/** The values of the rule's dimensions; undefined where the request lacks one. */
function keyOf({ key }: Rule, descriptor: Descriptor): Key | undefined {
  const [only] = key
  if (key.length === 1) return valueIn(descriptor, only as string)
  const values = key.map((dimension) => valueIn(descriptor, dimension))
  return values.includes(undefined) ? undefined : (values as string[])
}

function valueIn(descriptor: Descriptor, dimension: string): string | undefined {
  return Object.hasOwn(descriptor, dimension) ? descriptor[dimension] : undefined
}
