/**
 * A server that answers a constant, to measure others beside it: `grpc` with @grpc/grpc-js, or `http` with fastify. Prints its
 * port.
 */
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { fastify } from 'fastify'
import { DECISION, RESPONSE, RPC_PATH } from './service-load.ts'

const listening = process.argv[2] === 'grpc' ? serveGrpc() : serveHttp()
console.log(await listening)

function serveGrpc(): Promise<number> {
  const server = new Server()
  const bytes = (given: Buffer) => given
  const method = {
    path: RPC_PATH,
    requestStream: false as const,
    responseStream: false as const,
    requestSerialize: bytes,
    requestDeserialize: bytes,
    responseSerialize: bytes,
    responseDeserialize: bytes,
  }
  server.addService(
    { method },
    { method: (_call: unknown, reply: (error: null, answer: Buffer) => void) => reply(null, RESPONSE) },
  )
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    )
  })
}

async function serveHttp(): Promise<number> {
  const server = fastify()
  server.post('/v1/limit', async () => DECISION)
  return Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port)
}
