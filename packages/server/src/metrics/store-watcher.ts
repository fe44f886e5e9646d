import type { EventHub } from '../events/event-hub.ts'
import type { StoreWatcher } from '../store/open-store.ts'
import type { Metrics } from './metrics.ts'
import { observedStore } from './observed-store.ts'

/** Times a store, counts what is decided without it, and tells of it. */
export function watchStore(metrics: Metrics, events?: EventHub): StoreWatcher {
  return {
    observed: (store) => observedStore(store, metrics),
    observer: {
      fallback: (event) => {
        metrics.fallbacks.inc({ cause: event.cause })
        events?.tell('fallback', () => event)
      },
      batch: ({ keys }) => metrics.batchKeys.observe(keys),
      lateReply: () => metrics.lateReplies.inc(),
      lease: ({ rule, what, permits }) => metrics.leasedPermits.inc({ rule, what }, permits),
      breakerChange: (event) => {
        metrics.breakerOpen.set(event.to === 'closed' ? 0 : 1)
        events?.tell('breaker', () => event)
      },
    },
  }
}
