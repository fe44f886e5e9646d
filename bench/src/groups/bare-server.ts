import type { AddressInfo } from 'node:net'
import { Server, ServerCredentials, type UntypedHandleCall } from '@grpc/grpc-js'
import { fastify } from 'fastify'

/*
 * Servers of the libraries that the service is made with, which answer a constant: `bare-server.js http` or `grpc`. Prints
 * the port.
 */

/** A decision as the service answers it. */
const DECISION = {
  ...{ allowed: true, limit: 1000, used: 1, remaining: 999, retryAfterMs: 0, resetAfterMs: 60_000 },
  ...{ reason: 'ok', source: 'store', rule: 'per-user', at: 1_780_000_000_000 },
}
/** A RateLimitResponse: OK. */
const RESPONSE = Buffer.from([0x08, 0x01])

console.log(process.argv[2] === 'grpc' ? await serveGrpc() : await serveHttp())

async function serveHttp(): Promise<number> {
  const app = fastify()
  app.post('/v1/limit', async () => DECISION)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

function serveGrpc(): Promise<number> {
  const server = new Server()
  const same = (bytes: Buffer) => bytes
  const method = {
    path: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
    ...{ requestStream: false, responseStream: false },
    ...{ requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same },
  }
  const answer: UntypedHandleCall = (_call: unknown, reply: (error: null, bytes: Buffer) => void) =>
    reply(null, RESPONSE)
  server.addService({ ShouldRateLimit: method }, { ShouldRateLimit: answer })
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port)
      else reject(error)
    })
  })
}
