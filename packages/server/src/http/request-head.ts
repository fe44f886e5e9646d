import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../errors.ts'
import { problemOf } from './problem.ts'
import { endWithProblem } from './raw-answer.ts'

/** Requests whose expectation Node does not know. */
const unmet = new WeakSet<IncomingMessage>()

/** Refuses, in our words, the heads of requests that Node would answer with a status alone, or not at all. */
export function refuseOddHeads(service: FastifyInstance): void {
  service.addHook('onRequest', ({ raw }, _reply, done) => {
    // HTTP/1.0 has none.
    if (raw.headers.host === undefined && raw.httpVersion === '1.1') {
      done(refusal('ERR_MALFORMED_REQUEST', 'host', 'a Host header, which HTTP/1.1 requires'))
    } else if (unmet.has(raw)) {
      done(refusal('ERR_EXPECTATION_FAILED', 'expect', '100-continue, or no Expect header'))
    } else done()
  })
  service.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    unmet.add(request)
    service.server.emit('request', request, response)
  })
  service.server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    const error = refusal('ERR_METHOD_NOT_ALLOWED', 'method', 'another than CONNECT: this is no proxy')
    // Empty: there is no path, so no method is allowed on it (RFC 9110, 10.2.1).
    endWithProblem(socket, problemOf(error), { Allow: '' })
  })
}

function refusal(
  code: 'ERR_MALFORMED_REQUEST' | 'ERR_EXPECTATION_FAILED' | 'ERR_METHOD_NOT_ALLOWED',
  field: string,
  expected: string,
): ServiceError {
  return new ServiceError(code, `${field}: expected ${expected}`, { field, expected })
}
