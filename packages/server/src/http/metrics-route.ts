import type { FastifyInstance } from 'fastify'
import type { Metrics } from '../metrics/metrics.ts'
import type { Fleet } from '../workers/fleet.ts'

/** `GET /metrics`, for Prometheus; and what is measured of each request. */
export function measureRequests(server: FastifyInstance, metrics: Metrics, fleet: Pick<Fleet, 'metrics'>): void {
  server.addHook('onResponse', (request, reply, done) => {
    // The path as the route has it, not as a client wrote it.
    const endpoint = request.routeOptions.url ?? 'unknown'
    if (endpoint !== '/metrics') metrics.requestSeconds.timer(endpoint).observe(reply.elapsedTime / 1000)
    done()
  })
  server.get('/metrics', async (_request, reply) => {
    return reply.type(metrics.registry.contentType).send(await fleet.metrics())
  })
}
