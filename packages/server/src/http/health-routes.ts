import type { FastifyInstance } from 'fastify'
import type { Store } from 'tidegate'
import { ServiceError } from '../errors.ts'

/** How far a service is on its way out: `leaving` asks for no new work, `closing` ends each connection with its next answer. */
export interface Lifecycle {
  phase: 'serving' | 'leaving' | 'closing'
}

export interface HealthOptions {
  readonly store: Store
  readonly lifecycle: Lifecycle
}

/** `/healthz`: the process runs. `/readyz`: it has a store that answers, and is not shutting down. */
export async function healthRoutes(server: FastifyInstance, { store, lifecycle }: HealthOptions): Promise<void> {
  server.get('/healthz', async () => ({ status: 'ok' }))

  server.get('/readyz', async () => {
    if (lifecycle.phase !== 'serving') throw new ServiceError('ERR_DRAINING', 'the service is shutting down')
    await store.ping()
    return { status: 'ready' }
  })
}
