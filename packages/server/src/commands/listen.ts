import type { AddressInfo, Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../errors.ts'
import { unavailableReason } from '../settings/unavailable-reason.ts'

/** Resolves to the URL, with the port that was taken. @throws ServiceError `ERR_CANNOT_LISTEN` */
export async function listen(service: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    await service.listen({ host, port, listenTextResolver: (address) => `accepting connections on ${address}` })
  } catch (cause) {
    throw cannotListen(host, port, cause)
  }
  return urlOf(service.server)
}

export function cannotListen(host: string, port: number, cause: unknown): ServiceError {
  const message = `cannot listen on ${host}:${port}: ${unavailableReason(cause)}`
  return new ServiceError('ERR_CANNOT_LISTEN', message, { cause })
}

/** Where a server listens. */
export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
