import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../errors.ts'

/** Whoever asks how the service is must hear it, however much there is to do. */
const HOW_IT_IS = new Set(['/healthz', '/readyz', '/healthcheck', '/metrics'])

/** Refuses requests beyond `most` at a time, at once: a queue would only make all of them late. */
export function boundConcurrency(server: FastifyInstance, most: number): void {
  let underWay = 0
  // Hooks that wait for nothing are told so: one that returns a promise delays every request.
  server.addHook('onRequest', (request, reply, done) => {
    if (HOW_IT_IS.has(request.url)) {
      done()
    } else if (underWay >= most) {
      done(new ServiceError('ERR_OVERLOADED', `${most.toLocaleString('en-US')} requests are under way already`))
    } else {
      underWay++
      // Also where the client has gone before its answer.
      reply.raw.once('close', () => underWay--)
      done()
    }
  })
}
