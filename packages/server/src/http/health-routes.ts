import type { FastifyInstance } from 'fastify'
import type { Store } from 'tidegate'
import { ServiceError } from '../errors.ts'

/** Set when the service begins to shut down. */
export interface Lifecycle {
  draining: boolean
}

export interface HealthOptions {
  readonly store: Store
  readonly lifecycle: Lifecycle
}

/** `/healthz`: the process runs. `/readyz`: it has a store that answers, and is not shutting down. */
export async function healthRoutes(server: FastifyInstance, { store, lifecycle }: HealthOptions): Promise<void> {
  server.get('/healthz', async () => ({ status: 'ok' }))

  server.get('/readyz', async () => {
    if (lifecycle.draining) throw new ServiceError('ERR_DRAINING', 'the service is shutting down')
    await store.ping()
    return { status: 'ready' }
  })
}
