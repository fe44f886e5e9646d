import { logVerbosity, Server, type ServerCredentials, setLogVerbosity } from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'
import type { Logger } from 'pino'
import type { Gate } from 'tidegate'
import type { RateLimiting } from '../envoy/rate-limiting.ts'
import { ServiceError } from '../errors.ts'
import type { ForwardAuthConfig } from '../http/forward-auth-route.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Trust } from '../settings/trust.ts'
import { unavailableReason } from '../settings/unavailable-reason.ts'
import { authorization } from './authorization.ts'
import { Authorization } from './generated/envoy/service/auth/v3/external_auth_pb.ts'
import { RateLimitService } from './generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { addReflection } from './reflection.ts'
import { serviceDefinition } from './service-definition.ts'
import { unaryHandler } from './unary-handler.ts'

export interface GrpcOptions {
  readonly gate: Gate
  readonly rateLimiting: RateLimiting
  readonly forwardAuth: () => ForwardAuthConfig
  /** Whose X-Forwarded-For is believed. */
  readonly isTrusted: Trust
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Names that health is asked by: of all, of the service as envoyproxy/ratelimit calls it, and of the services themselves. */
const HEALTH_NAMES = ['', 'ratelimit', RateLimitService.typeName, Authorization.typeName]

/** The gRPC side of the service. */
export class GrpcServer {
  readonly #server: Server
  readonly #health = new HealthImplementation(Object.fromEntries(HEALTH_NAMES.map((name) => [name, 'SERVING'])))

  constructor({ gate, rateLimiting, forwardAuth, isTrusted, logger, metrics }: GrpcOptions) {
    // What the package would print comes as an error as well.
    setLogVerbosity(logVerbosity.NONE)
    this.#server = new Server(LIMITS)
    this.#server.addService(serviceDefinition(RateLimitService), {
      ShouldRateLimit: unaryHandler(rateLimiting, { logger, metrics, endpoint: 'grpc ShouldRateLimit' }),
    })
    this.#server.addService(serviceDefinition(Authorization), {
      Check: unaryHandler(authorization(gate, forwardAuth, isTrusted), { logger, metrics, endpoint: 'grpc Check' }),
    })
    this.#health.addToServer(this.#server)
    addReflection(this.#server, [RateLimitService, Authorization])
  }

  /**
   * Resolves to the address, with the port that was taken.
   * @throws ServiceError `ERR_CANNOT_LISTEN`
   */
  async listen(host: string, port: number, credentials: ServerCredentials): Promise<string> {
    const name = host.includes(':') ? `[${host}]` : host
    const address = `${name}:${port}`
    try {
      const taken = await new Promise<number>((resolve, reject) => {
        this.#server.bindAsync(address, credentials, (error, bound) => (error ? reject(error) : resolve(bound)))
      })
      return `${name}:${taken}`
    } catch (cause) {
      const reason = unavailableReason(cause)
      const hint = '--grpc takes another port, --grpc off serves HTTP alone'
      throw new ServiceError('ERR_CANNOT_LISTEN', `cannot listen on ${address} for gRPC: ${reason}; ${hint}`, { cause })
    }
  }

  /** Says that no new work is wanted; what comes is still answered. */
  leave(): void {
    for (const name of HEALTH_NAMES) this.#health.setStatus(name, 'NOT_SERVING')
  }

  /** Asks clients to go (GOAWAY), and waits for what is in flight. Cuts what is still there after so many ms. */
  async close(patienceMs: number): Promise<void> {
    const cut = setTimeout(() => this.#server.forceShutdown(), patienceMs)
    await new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()))
    clearTimeout(cut)
  }
}

/** What one client can ask of the server at a time. */
const LIMITS = {
  // Bytes. A request of Envoy with its headers is a few thousand.
  'grpc.max_receive_message_length': 1024 * 1024,
  'grpc.max_concurrent_streams': 1000,
  // A connection whose peer is gone without a word is noticed within this and the next. Milliseconds.
  'grpc.keepalive_time_ms': 60_000,
  'grpc.keepalive_timeout_ms': 20_000,
}
