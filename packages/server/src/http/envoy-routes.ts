import { fromJsonString, type JsonReadOptions, toJson } from '@bufbuild/protobuf'
import type { FastifyInstance } from 'fastify'
import { type Limits, limitsIn } from '../envoy/limits.ts'
import type { RateLimiting } from '../envoy/rate-limiting.ts'
import { ServiceError } from '../errors.ts'
import {
  RateLimitResponse_Code as Code,
  RateLimitRequestSchema,
  RateLimitResponseSchema,
} from '../grpc/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import type { Lifecycle } from './health-routes.ts'
import { acceptAnyText, decodeText } from './json-body.ts'

export interface EnvoyOptions {
  readonly rateLimiting: RateLimiting
  /** Undefined where rate limit requests are decided by the rules. */
  readonly limits: () => Limits | undefined
  readonly lifecycle: Lifecycle
}

/** What envoyproxy/ratelimit has over HTTP: `/json`, `/healthcheck`, `/rlconfig`. */
export async function envoyRoutes(server: FastifyInstance, options: EnvoyOptions): Promise<void> {
  const { rateLimiting, limits, lifecycle } = options
  acceptAnyText(server)

  server.post('/json', async (request, reply) => {
    const answer = await rateLimiting(readMessage(request.body))
    const isOver = answer.overallCode === Code.OVER_LIMIT
    return reply.code(isOver ? 429 : 200).send(toJson(RateLimitResponseSchema, answer))
  })

  server.get('/healthcheck', async (_request, reply) => {
    const isServing = lifecycle.phase === 'serving'
    return reply
      .code(isServing ? 200 : 500)
      .type('text/plain; charset=utf-8')
      .send(isServing ? 'OK' : 'shutting down')
  })

  server.get('/rlconfig', async (_request, reply) => {
    const now = limits()
    return reply.type('text/plain; charset=utf-8').send(now === undefined ? '' : listing(now))
  })
}

const READING: Partial<JsonReadOptions> = { ignoreUnknownFields: false }

function readMessage(body: unknown) {
  const text = decodeText(body)
  try {
    return fromJsonString(RateLimitRequestSchema, text, READING)
  } catch (cause) {
    const expected = 'a RateLimitRequest of Envoy as JSON'
    const message = `body: expected ${expected}; ${(cause as Error).message}`
    throw new ServiceError('ERR_INVALID_BODY', message, { field: 'body', expected, cause })
  }
}

/** A line for each limit. */
function listing(limits: Limits): string {
  return limitsIn(limits)
    .map(({ path, unit, requestsPerUnit, unlimited, shadowMode, quotaMode, rule }) => {
      const counted = unlimited
        ? 'unlimited'
        : `unit=${unit ?? `${rule?.windowMs}ms`} requests_per_unit=${requestsPerUnit}`
      const algorithm = rule === undefined || rule.algorithm === 'fixed-window' ? '' : `, algorithm: ${rule.algorithm}`
      return `${path}: ${counted}, shadow_mode: ${shadowMode}, quota_mode: ${quotaMode}${algorithm}\n`
    })
    .join('')
}
