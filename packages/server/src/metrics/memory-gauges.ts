import type { MemoryStore, Store } from 'tidegate'
import type { Metrics } from './metrics.ts'

/** Has each scrape look at what a memory store holds; nothing of another store. */
export function measureMemory(store: Store, metrics: Metrics): void {
  if (!('stats' in store)) return
  metrics.lookAtMemory(() => (store as MemoryStore).stats())
}
