import type { FastifyInstance } from 'fastify'
import type { Store } from 'tidegate'
import type { GuardedStore } from 'tidegate/redis'
import { ServiceError } from '../errors.ts'

/** How far a service is on its way out: `leaving` asks for no new work, `closing` ends each connection with its next answer. */
export interface Lifecycle {
  phase: 'serving' | 'leaving' | 'closing'
}

export interface HealthOptions {
  readonly store: Store
  readonly lifecycle: Lifecycle
}

/** `/healthz`: the process runs. `/readyz`: it can decide, with its store or without, and is not shutting down. */
export async function healthRoutes(server: FastifyInstance, { store, lifecycle }: HealthOptions): Promise<void> {
  server.get('/healthz', async () => ({ status: 'ok' }))

  server.get('/readyz', async () => {
    if (lifecycle.phase !== 'serving') throw new ServiceError('ERR_DRAINING', 'the service is shutting down')
    const { guardState } = store as Partial<GuardedStore>
    if (guardState === undefined) {
      await store.ping()
      return { status: 'ready' }
    }
    // Without its store it still decides, by the policy of each rule: no reason to send requests elsewhere.
    const isThere = await store.ping().then(
      () => true,
      () => false,
    )
    const { breaker, instances, fallbacks, lateReplies, health } = guardState.call(store)
    return { status: isThere ? 'ready' : 'degraded', store: { breaker, instances, fallbacks, lateReplies, ...health } }
  })
}
