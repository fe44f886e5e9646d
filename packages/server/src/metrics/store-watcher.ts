import type { StoreWatcher } from '../store/open-store.ts'
import type { Metrics } from './metrics.ts'
import { observedStore } from './observed-store.ts'

/** Times a store, and counts what is decided without it. */
export function watchStore(metrics: Metrics): StoreWatcher {
  return {
    observed: (store) => observedStore(store, metrics),
    observer: {
      fallback: ({ cause }) => metrics.fallbacks.inc({ cause }),
      lateReply: () => metrics.lateReplies.inc(),
      lease: ({ rule, what, permits }) => metrics.leasedPermits.inc({ rule, what }, permits),
      breakerChange: ({ to }) => metrics.breakerOpen.set(to === 'closed' ? 0 : 1),
    },
  }
}
