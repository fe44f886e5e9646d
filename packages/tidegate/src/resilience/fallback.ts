import type { Clock } from '../clock.ts'
import type { RuleDecision } from '../decision.ts'
import { checkEach } from '../key.ts'
import type { Rule } from '../rule.ts'
import { type MemoryStore, memoryStore } from '../stores/memory/memory-store.ts'
import type { Check, Mode, Reserve } from '../stores/store.ts'
import { shareOf } from './share.ts'

/** What a refusal asks its client to wait at least, ms: nobody knows when the store will be back. */
const LEAST_WAIT_MS = 1_000

export interface FallbackOptions {
  readonly clock: Clock
  readonly maxKeys: number
  /** Among how many the limits are shared now. */
  readonly instances: () => number
  /** Ms until the store is looked after. */
  readonly retryInMs: () => number
}

/** Decides requests without their store, by the policy of each of their rules, all-or-nothing. */
export class Fallback {
  readonly #options: FallbackOptions
  #local: MemoryStore | undefined

  constructor(options: FallbackOptions) {
    this.#options = options
  }

  /** What is counted in this process; undefined where nothing has been yet. */
  get local(): MemoryStore | undefined {
    return this.#local
  }

  open(): MemoryStore {
    const { clock, maxKeys } = this.#options
    this.#local ??= memoryStore({ clock, maxKeys })
    return this.#local
  }

  /** A rule as it is counted here. */
  share(rule: Rule): Rule {
    return shareOf(rule, this.#options.instances())
  }

  /**
   * A rule that denies refuses the whole request, and then the others are charged nothing.
   * @throws TidegateError `ERR_INVALID_KEY`
   */
  decide(checks: readonly Check[], mode: Mode): RuleDecision[] {
    const counted = this.#counted(checks)
    if (counted.length === 0) return this.#inOrder(checks, [])
    if (!isDenied(checks)) return this.#inOrder(checks, this.open().decideSync(counted, mode))
    return this.#inOrder(checks, this.#uncharged(counted))
  }

  /** The same for a reservation, which lives here then, and is settled here. */
  async reserve(checks: readonly Reserve[], expiresInMs: number): Promise<RuleDecision[]> {
    const counted = this.#counted(checks)
    if (counted.length === 0) return this.#inOrder(checks, [])
    if (isDenied(checks)) return this.#inOrder(checks, this.#uncharged(counted))
    return this.#inOrder(checks, await this.open().reserve(counted, expiresInMs))
  }

  /** The checks of rules that are counted here, with this instance's share of their limits. */
  #counted<One extends Check>(checks: readonly One[]): One[] {
    for (const { key } of checks) checkEach(key)
    const counted = checks.filter(({ rule }) => rule.onStoreFailure === 'local')
    return counted.map((check) => ({ ...check, rule: this.share(check.rule) }))
  }

  /** Those that would pass are told as they stand. */
  #uncharged(counted: readonly Check[]): RuleDecision[] {
    const store = this.open()
    return store.decideSync(counted, 'peek').map((figures, i) => {
      const { rule, key } = counted[i] as Check
      return figures.allowed ? store.decideOneSync(rule, key, 0, 'peek') : figures
    })
  }

  /** The figures of all checks: what was counted, and the others by their policy. */
  #inOrder(checks: readonly Check[], counted: readonly RuleDecision[]): RuleDecision[] {
    let next = 0
    return checks.map(({ rule, cost }) => {
      if (rule.onStoreFailure === 'local') return counted[next++] as RuleDecision
      return this.#uncounted(rule, rule.onStoreFailure === 'allow' || cost === 0)
    })
  }

  async close(): Promise<void> {
    await this.#local?.close()
  }

  /** The figures of a rule that nobody counts: what has been used is not known, and told as 0. */
  #uncounted({ name, limit }: Rule, allowed: boolean): RuleDecision {
    const { clock, retryInMs } = this.#options
    const wait = allowed ? 0 : Math.max(LEAST_WAIT_MS, Math.ceil(retryInMs()))
    return {
      rule: name,
      allowed,
      limit,
      used: 0,
      remaining: allowed ? limit : 0,
      retryAfterMs: wait,
      resetAfterMs: wait,
      reason: 'store_unavailable',
      at: clock(),
    }
  }
}

/** A rule in shadow refuses nobody. */
function isDenied(checks: readonly Check[]): boolean {
  return checks.some(({ rule, cost }) => rule.onStoreFailure === 'deny' && !rule.shadow && cost > 0)
}
