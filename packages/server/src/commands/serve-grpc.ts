import { readTls } from '../grpc/credentials.ts'
import { type GrpcOptions, GrpcServer } from '../grpc/server.ts'
import type { Settings } from '../settings/settings.ts'

/**
 * The gRPC side of the service, of which nothing is open yet: whatever is wrong with its files is known first.
 * @throws ServiceError `ERR_INVALID_SETTING` where a file of TLS is missing, or is none
 */
export function grpcSide(settings: Settings): GrpcSide {
  const tls = readTls({
    certificate: settings.grpcTlsCert,
    key: settings.grpcTlsKey,
    clientAuthority: settings.grpcTlsClientCa,
  })
  return {
    create: (options) => {
      const connections = { maxAgeMs: settings.grpcMaxConnectionAge, maxAgeGraceMs: settings.grpcMaxConnectionAgeGrace }
      return new GrpcServer({ ...options, tls, maxConcurrent: settings.maxConcurrent, connections })
    },
    listen: (server) => server.listen(settings.host, Number(settings.grpc)),
  }
}

export interface GrpcSide {
  create(options: GrpcOptions): GrpcServer
  /** Resolves to the address. @throws ServiceError `ERR_CANNOT_LISTEN` */
  listen(server: GrpcServer): Promise<string>
}
