import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Gate } from 'tidegate'
import type { RateLimiting } from '../envoy/rate-limiting.ts'
import { ServiceError } from '../errors.ts'
import type { ForwardAuthConfig } from '../http/forward-auth-route.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { ConnectionLimits } from '../rpc/connections.ts'
import type { Methods, UnaryMethod } from '../rpc/method.ts'
import { RpcServer, type TlsMaterial } from '../rpc/rpc-server.ts'
import type { RpcError } from '../rpc/status.ts'
import type { Trust } from '../settings/trust.ts'
import { unavailableReason } from '../settings/unavailable-reason.ts'
import { Admission } from './admission.ts'
import { decisionMethod } from './decision-method.ts'
import { Health } from './health.ts'
import { reflectionMethods } from './reflection.ts'
import { readRateLimitRequest, writeRateLimitResponse } from './wire/rate-limit-codec.ts'

export interface GrpcOptions {
  readonly gate: Gate
  readonly rateLimiting: RateLimiting
  readonly forwardAuth: () => ForwardAuthConfig
  /** Whose X-Forwarded-For is believed. */
  readonly isTrusted: Trust
  readonly logger: Logger
  readonly metrics: Metrics
  /** Without it, connections are not encrypted. */
  readonly tls?: TlsMaterial | undefined
  /** How many calls can be under way at a time; more are `UNAVAILABLE` at once. Default: 5,000. */
  readonly maxConcurrent?: number
  /** How long connections stay. Default: 24 hours, and one more for what is under way. */
  readonly connections?: ConnectionLimits
}

const RATE_LIMIT = 'envoy.service.ratelimit.v3.RateLimitService'
const AUTHORIZATION = 'envoy.service.auth.v3.Authorization'
/** Names that health is asked by: of all, of the service as envoyproxy/ratelimit calls it, and of the services themselves. */
const HEALTH_NAMES = ['', 'ratelimit', RATE_LIMIT, AUTHORIZATION]
const CONNECTIONS: ConnectionLimits = { maxAgeMs: 24 * 3_600_000, maxAgeGraceMs: 3_600_000 }

/** The gRPC side of the service. */
export class GrpcServer {
  readonly #server: RpcServer
  readonly #health = new Health(HEALTH_NAMES)

  constructor(options: GrpcOptions) {
    const { logger, metrics, tls, connections = CONNECTIONS } = options
    const onRefusal = ({ message }: RpcError): void => {
      metrics.errors.inc({ code: 'ERR_MALFORMED_REQUEST' })
      logger.debug({ code: 'ERR_MALFORMED_REQUEST' }, message)
    }
    this.#server = new RpcServer({ methods: this.#methods(options), tls, connections, onRefusal })
  }

  #methods({
    gate,
    rateLimiting,
    forwardAuth,
    isTrusted,
    logger,
    metrics,
    maxConcurrent = 5_000,
  }: GrpcOptions): Methods {
    const answering = { logger, metrics, admission: new Admission(maxConcurrent) }
    const shouldRateLimit = decisionMethod({
      ...answering,
      endpoint: 'grpc ShouldRateLimit',
      read: readRateLimitRequest,
      answer: rateLimiting,
      write: writeRateLimitResponse,
    })
    // Generated code takes a while to load, and rate limits need none: the service answers meanwhile, and Check waits for it.
    const loaded = nextTurn().then(() => import('./authorization-method.ts'))
    const checking = loaded.then((module) => module.authorizationMethod(gate, forwardAuth, isTrusted, answering))
    const check: UnaryMethod = { kind: 'unary', answer: async (bytes) => (await checking).answer(bytes) }
    return new Map([
      [`/${RATE_LIMIT}/ShouldRateLimit`, shouldRateLimit],
      [`/${AUTHORIZATION}/Check`, check],
      ...this.#health.methods,
      ...reflectionMethods(),
    ])
  }

  /**
   * Resolves to the address, with the port that was taken.
   * @throws ServiceError `ERR_CANNOT_LISTEN`
   */
  async listen(host: string, port: number): Promise<string> {
    const name = host.includes(':') ? `[${host}]` : host
    try {
      return `${name}:${await this.#server.listen(host, port)}`
    } catch (cause) {
      const reason = unavailableReason(cause)
      const hint = '--grpc takes another port, --grpc off serves HTTP alone'
      const message = `cannot listen on ${name}:${port} for gRPC: ${reason}; ${hint}`
      throw new ServiceError('ERR_CANNOT_LISTEN', message, { cause })
    }
  }

  /** Says that no new work is wanted; what comes is still answered. */
  leave(): void {
    this.#health.leave()
  }

  /** Asks clients to go (GOAWAY), and waits for what is in flight. Cuts what is still there after so many ms. */
  close(patienceMs: number): Promise<void> {
    return this.#server.close(patienceMs)
  }
}
