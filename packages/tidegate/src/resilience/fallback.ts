import type { Clock } from '../clock.ts'
import type { RuleDecision } from '../decision.ts'
import { checkEach } from '../key.ts'
import type { Rule } from '../rule.ts'
import { type MemoryStore, memoryStore } from '../stores/memory/memory-store.ts'
import type { Check, Mode } from '../stores/store.ts'
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
    return this.decideWith(checks, (local, isDenied) => {
      const store = this.open()
      if (!isDenied) return store.decideSync(local, mode)
      return store.decideSync(local, 'peek').map((figures, i) => {
        const { rule, key } = local[i] as Check
        return figures.allowed ? store.decideOneSync(rule, key, 0, 'peek') : figures
      })
    })
  }

  /** The same; the checks of rules that are counted here are decided by `decideLocally`. */
  decideWith(
    checks: readonly Check[],
    decideLocally: (checks: readonly Check[], isDenied: boolean) => RuleDecision[],
  ): RuleDecision[] {
    for (const { key } of checks) checkEach(key)
    const isDenied = checks.some(({ rule, cost }) => rule.onStoreFailure === 'deny' && cost > 0)
    const counted = checks.filter(({ rule }) => rule.onStoreFailure === 'local')
    const shares = counted.map((check) => ({ ...check, rule: this.share(check.rule) }))
    const local = shares.length === 0 ? [] : decideLocally(shares, isDenied)
    let next = 0
    return checks.map(({ rule, cost }) => {
      if (rule.onStoreFailure === 'local') return local[next++] as RuleDecision
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
