import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../errors.ts'

/** Whoever asks how the service is must hear it, however much there is to do. */
const HOW_IT_IS = new Set(['/healthz', '/readyz', '/healthcheck', '/metrics'])

/** Refuses requests beyond `most` at a time, at once: a queue would only make all of them late. */
export function boundConcurrency(server: FastifyInstance, most: number): void {
  let underWay = 0
  server.addHook('onRequest', async (request, reply) => {
    if (HOW_IT_IS.has(request.url)) return
    if (underWay >= most) {
      throw new ServiceError('ERR_OVERLOADED', `${most.toLocaleString('en-US')} requests are under way already`)
    }
    underWay++
    // Also where the client has gone before its answer.
    reply.raw.once('close', () => underWay--)
  })
}
