import type { FastifyInstance } from 'fastify'
import { type Limits, limitsIn } from '../envoy/limits.ts'
import { CODE } from '../envoy/protocol.ts'
import type { RateLimiting } from '../envoy/rate-limiting.ts'
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
    const text = decodeText(request.body)
    // Loaded with the first request: few ask for it, and a start without it is sooner.
    const { readJsonRequest, jsonResponse } = await import('./envoy-json.ts')
    const answer = await rateLimiting(readJsonRequest(text))
    const isOver = answer.overallCode === CODE.OVER_LIMIT
    return reply.code(isOver ? 429 : 200).send(jsonResponse(answer))
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
