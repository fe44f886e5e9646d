import type { LeasingStore } from '../leases/lease-state.ts'
import type { BreakerState, FallbackCause } from '../observer.ts'
import type { Store } from '../stores/store.ts'
import type { StoreHealth } from './store-health.ts'

/** How a guarded store stands, for health and metrics. */
export interface GuardState {
  readonly breaker: BreakerState
  /** Ms until a store that is not asked is looked after; else 0. */
  readonly retryInMs: number
  /** Among how many instances the limits are shared when the store is away. */
  readonly instances: number
  /** Decisions made without the store so far, by cause. */
  readonly fallbacks: Readonly<Record<FallbackCause, number>>
  /** Answers that came after their request had been decided without them. */
  readonly lateReplies: number
  /** Decisions that wait for the store now. */
  readonly waiting: number
  /** What the store last said of itself, a minute ago at most; undefined where it has said nothing yet. */
  readonly health: StoreHealth | undefined
}

export interface GuardedStore extends Store, LeasingStore {
  guardState(): GuardState
}
