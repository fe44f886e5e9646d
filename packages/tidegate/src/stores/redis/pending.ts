import type { Check, Mode, Waiter } from '../store.ts'

/** A probe is answered as if a check of the same request, elsewhere, had refused it: it is not charged. */
export type ScriptMode = Mode | 'probe' | 'peek-probe'

/** One request on its way to Redis, with what waits for its answer. */
export interface Pending {
  readonly checks: readonly Check[]
  /** The Redis key of each check. */
  readonly keys: readonly string[]
  readonly mode: ScriptMode
  /** When nobody waits for the answer any more, by the monotonic clock; infinite for never. */
  readonly until: number
  /** Is told the figures of its checks. */
  readonly waiter: Waiter
  /** Equal requests behind it, which are decided with it (merging.ts). Default: none. */
  alike?: Pending[] | undefined
}
