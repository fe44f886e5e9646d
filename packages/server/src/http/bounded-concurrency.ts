import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../errors.ts'

/** Whoever asks whether the service is well must hear it, however much there is to do. */
const HEALTH = new Set(['/healthz', '/readyz'])

/** Refuses requests beyond `most` at a time, at once: a queue would only make all of them late. */
export function boundConcurrency(server: FastifyInstance, most: number): void {
  let underWay = 0
  server.addHook('onRequest', async (request, reply) => {
    if (HEALTH.has(request.url)) return
    if (underWay >= most) {
      throw new ServiceError('ERR_OVERLOADED', `${most.toLocaleString('en-US')} requests are under way already`)
    }
    underWay++
    // Also where the client has gone before its answer.
    reply.raw.once('close', () => underWay--)
  })
}
