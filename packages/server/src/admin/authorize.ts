import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../errors.ts'
import { parseAddress } from '../forward-auth/address.ts'
import { hasForwardedHeaders } from '../forward-auth/original-request.ts'
import type { Scope, Tokens } from './tokens.ts'

/**
 * Lets a request administrate, or not. With tokens, by the one that it bears. Without, only from this machine, and not
 * through a gateway on it.
 * @throws ServiceError `ERR_UNAUTHORIZED`, `ERR_FORBIDDEN`
 */
function authorize({ raw, headers }: FastifyRequest, tokens: Tokens, needed: Scope): void {
  if (tokens.isEmpty) {
    if (isLoopback(raw.socket.remoteAddress) && !hasForwardedHeaders(headers)) return
    throw forbidden('a request from this machine itself, as long as there are no --admin-tokens')
  }
  const [, token] = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? []
  const scopes = token === undefined ? [] : tokens.scopesOf(token)
  if (scopes.length === 0) {
    const expected = 'Bearer and a token of --admin-tokens'
    const message = `authorization: expected ${expected}`
    throw new ServiceError('ERR_UNAUTHORIZED', message, { field: 'authorization', expected })
  }
  if (!scopes.includes(needed)) throw forbidden(EXPECTED[needed])
}

const EXPECTED: Record<Scope, string> = {
  read: 'a token that may read',
  write: 'a token that may write',
  store: 'a token of the scope store',
}

function forbidden(expected: string): ServiceError {
  return new ServiceError('ERR_FORBIDDEN', `authorization: expected ${expected}`, { field: 'authorization', expected })
}

function isLoopback(address: string | undefined): boolean {
  const parsed = parseAddress(address ?? '')
  return parsed === '::1' || parsed?.startsWith('127.') === true
}

/** What a route needs so that only those with the scope get to it, before anything of their body is read. */
export function allow(tokens: Tokens, scope: Scope) {
  return {
    onRequest: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      if (!tokens.isEmpty) void reply.header('www-authenticate', 'Bearer')
      authorize(request, tokens, scope)
      void reply.removeHeader('www-authenticate')
    },
  }
}
