import { Gauge } from 'prom-client'
import type { Store } from 'tidegate'
import type { GuardedStore } from 'tidegate/redis'
import type { Metrics } from './metrics.ts'

type Health = NonNullable<ReturnType<GuardedStore['guardState']>['health']>

const GAUGES: readonly { readonly name: string; readonly help: string; readonly of: (health: Health) => unknown }[] = [
  {
    name: 'tidegate_redis_memory_bytes',
    help: 'The memory that Redis uses, by its INFO, a minute ago at most.',
    of: ({ memoryBytes }) => memoryBytes,
  },
  {
    name: 'tidegate_redis_max_memory_bytes',
    help: 'The memory that Redis may use; 0 where it may use all.',
    of: ({ maxMemoryBytes }) => maxMemoryBytes,
  },
  {
    name: 'tidegate_redis_evicted_keys',
    help: 'Keys that Redis has evicted since its start; each may have opened a limit.',
    of: ({ evictedKeys }) => evictedKeys,
  },
  {
    name: 'tidegate_redis_clock_skew_seconds',
    help: 'How far the clock of Redis is ahead of ours.',
    of: ({ skewMs }) => (skewMs === undefined ? undefined : skewMs / 1000),
  },
]

/** Has each scrape look at what Redis has last said of itself; nothing of another store. */
export function measureHealth(store: Store, { registry }: Metrics): void {
  const { guardState } = store as Partial<GuardedStore>
  if (guardState === undefined) return
  for (const { name, help, of } of GAUGES) {
    new Gauge({
      ...{ name, help, registers: [registry], aggregator: 'max' as const },
      collect() {
        const { health } = guardState.call(store)
        const value = health && of(health)
        if (typeof value === 'number') this.set(value)
        else this.remove()
      },
    })
  }
}
