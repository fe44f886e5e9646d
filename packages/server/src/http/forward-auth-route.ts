import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Gate } from 'tidegate'
import { rateLimitHeaders } from 'tidegate/http'
import { type DenyStatus, denyStatuses } from '../config/schema.ts'
import { ServiceError } from '../errors.ts'
import { forwardedDescriptor, type HeaderDimensions } from '../forward-auth/forwarded-descriptor.ts'
import { hasForwardedHeaders } from '../forward-auth/original-request.ts'
import type { Trust } from '../settings/trust.ts'
import { refusalBody } from './refusal.ts'

/** What the configuration file says of forward auth. */
export interface ForwardAuthConfig {
  readonly headers: HeaderDimensions
  readonly denyStatus: DenyStatus
}

export interface ForwardAuthOptions {
  readonly gate: Gate
  readonly isTrusted: Trust
  /** As it is now: the file can be read again. */
  readonly forwardAuth: () => ForwardAuthConfig
}

/** `/auth`, with any method: may the request that the gateway has before it pass? */
export async function forwardAuthRoute(server: FastifyInstance, options: ForwardAuthOptions): Promise<void> {
  const { gate, isTrusted, forwardAuth } = options
  const warn = warnOnce(server)
  // Answered before the body is looked at, which is the client's and not meant for this service.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { headers, denyStatus: usual } = forwardAuth()
    const { rules } = gate
    const denyStatus = denyStatusOf(request.query) ?? usual
    const peer = request.raw.socket.remoteAddress ?? ''
    const trusted = isTrusted(peer)
    if (!trusted && hasForwardedHeaders(request.headers)) warn(peer)
    const decision = await gate.limit(forwardedDescriptor(request.raw, trusted, isTrusted, headers))
    const answer = reply.headers(rateLimitHeaders(decision, rules)).header('tidegate-at', decision.at)
    if (decision.allowed) return answer.code(200).send()
    return answer.code(denyStatus).type('application/problem+json').send(refusalBody(decision, denyStatus))
  }
  server.all('/auth', { onRequest }, async (_request, reply) => reply)
}

/** What the gateway asks for: nginx's auth_request takes anything but 401 and 403 for a failure. */
function denyStatusOf(query: unknown): DenyStatus | undefined {
  const { deny_status: asked, ...others } = query as Record<string, unknown>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalidQuery(unknown, 'deny_status, the only parameter')
  if (asked === undefined) return undefined
  const status = denyStatuses.find((one) => String(one) === asked)
  if (status === undefined) throw invalidQuery('deny_status', `one of ${denyStatuses.join(', ')}`)
  return status
}

function invalidQuery(field: string, expected: string): ServiceError {
  return new ServiceError('ERR_INVALID_QUERY', `${field}: expected ${expected}`, { field, expected })
}

/** Headers that are ignored would look like a limit that counts everybody as one. */
function warnOnce(server: FastifyInstance): (peer: string) => void {
  let warned = false
  return (peer) => {
    if (warned) return
    warned = true
    const hint = `X-Forwarded-… and X-Original-… headers of ${peer} are ignored; if it is your gateway, start with --trust-proxy ${peer}`
    server.log.warn({ peer }, hint)
  }
}
