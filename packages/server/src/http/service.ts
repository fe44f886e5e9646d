import { type FastifyBaseLogger, type FastifyError, type FastifyInstance, fastify, LogController } from 'fastify'
import type { Logger } from 'pino'
import type { Gate, Store } from 'tidegate'
import { adminRoutes } from '../admin/admin-routes.ts'
import { keyRoutes } from '../admin/key-routes.ts'
import { storeRoutes } from '../admin/store-routes.ts'
import type { Tokens } from '../admin/tokens.ts'
import type { Limits } from '../envoy/limits.ts'
import type { RateLimiting } from '../envoy/rate-limiting.ts'
import type { EventHub } from '../events/event-hub.ts'
import { eventRoutes } from '../events/event-routes.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Trust } from '../settings/trust.ts'
import { alone } from '../workers/alone.ts'
import type { Fleet } from '../workers/fleet.ts'
import { boundConcurrency } from './bounded-concurrency.ts'
import { clientErrorAnswer } from './client-error.ts'
import { envoyRoutes } from './envoy-routes.ts'
import { type ForwardAuthConfig, forwardAuthRoute } from './forward-auth-route.ts'
import { healthRoutes, type Lifecycle } from './health-routes.ts'
import { BODY_LIMIT } from './json-body.ts'
import { limitRoutes } from './limit-routes.ts'
import { measureRequests } from './metrics-route.ts'
import { openapiRoute } from './openapi-route.ts'
import { problemOf, sendProblem } from './problem.ts'
import { refundRoutes } from './refund-routes.ts'
import { refuseOddHeads } from './request-head.ts'
import { reserveRoutes } from './reserve-routes.ts'
import { schemaRoute } from './schema-route.ts'
import { warnOfSkips } from './skip-warning.ts'
import { startPageRoute } from './start-page-route.ts'
import { answerUnknownRoutes, takeAllMethods } from './unknown-routes.ts'

export interface ServiceOptions {
  readonly gate: Gate
  /** The store of the gate, asked whether it is there. */
  readonly store: Store
  readonly isTrusted: Trust
  /** As the configuration file says now. */
  readonly forwardAuth: () => ForwardAuthConfig
  /** Answers rate limit requests of Envoy. */
  readonly rateLimiting: RateLimiting
  /** What they are decided by; undefined where that is the rules. */
  readonly limits: () => Limits | undefined
  /** Who may administrate. */
  readonly tokens: Tokens
  readonly metrics: Metrics
  readonly logger: Logger
  readonly lifecycle: Lifecycle
  /** What is told at /v1/events. */
  readonly events: EventHub
  /** The processes that are this service together. Default: this one. */
  readonly fleet?: Pick<Fleet, 'metrics' | 'shareRules'>
  /** How long a client has to send a whole request. Milliseconds; default: 10,000. */
  readonly requestTimeoutMs?: number
  /** How many requests can be under way at a time; more are 503 at once. Default: 5,000. */
  readonly maxConcurrent?: number
}

/** The HTTP service, not yet listening. */
export function createService(options: ServiceOptions): FastifyInstance {
  const { logger, lifecycle, metrics, requestTimeoutMs = 10_000, maxConcurrent = 5_000 } = options
  const { fleet = alone(metrics.registry) } = options
  const server: FastifyInstance = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    // Two lines for each decision would cost more than the decision.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: requestTimeoutMs,
    http: {
      // Gateways hand on what browsers sent them, long cookies included.
      maxHeaderSize: 65_536,
      // Node's default of 60 s would be the time of the body: of the two the longer one is.
      headersTimeout: requestTimeoutMs,
      // How late a request that takes too long is noticed; Node's default is 30 s.
      connectionsCheckingInterval: requestTimeoutMs / 20,
      // Asked for by this service itself, which has something to say where it is missing.
      requireHostHeader: false,
    },
    // What arrives on open connections while the service drains is still answered.
    return503OnClosing: false,
    clientErrorHandler: clientErrorAnswer(requestTimeoutMs),
    frameworkErrors: (error, _request, reply) => void sendProblem(reply, problemOf(error)),
  })
  server.setErrorHandler<FastifyError>((error, request, reply) => {
    const problem = problemOf(error)
    metrics.errors.inc({ code: problem.code })
    if (problem.status === 500) request.log.error({ err: error }, 'unforeseen error')
    else request.log.debug({ code: problem.code, field: problem.field }, problem.detail)
    return sendProblem(reply, problem)
  })
  server.addHook('onSend', (_request, reply, _payload, done) => {
    void reply.header('x-content-type-options', 'nosniff')
    // A decision that comes from a cache has limited nobody.
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store')
    // Tells clients to go elsewhere with their next request, before their connection is closed.
    if (lifecycle.phase === 'closing') void reply.header('connection', 'close')
    done()
  })
  boundConcurrency(server, maxConcurrent)
  refuseOddHeads(server)
  takeAllMethods(server)
  answerUnknownRoutes(server)
  warnOfSkips(server, options.gate)
  measureRequests(server, metrics, fleet)
  void server.register(limitRoutes, options)
  void server.register(adminRoutes, { ...options, fleet })
  void server.register(storeRoutes, options)
  void server.register(keyRoutes, options)
  void server.register(eventRoutes, options)
  void server.register(refundRoutes, options)
  void server.register(reserveRoutes, options)
  void server.register(forwardAuthRoute, options)
  void server.register(healthRoutes, options)
  void server.register(envoyRoutes, options)
  void server.register(openapiRoute)
  void server.register(schemaRoute)
  void server.register(startPageRoute, options)
  return server
}
