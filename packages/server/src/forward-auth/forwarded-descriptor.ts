import type { IncomingMessage } from 'node:http'
import type { Descriptor } from 'tidegate'
import type { Trust } from '../settings/trust.ts'
import { clientAddress } from './client-address.ts'
import { dimensionValue, hashed } from './dimension-value.ts'
import { originalRequest, receivedRequest } from './original-request.ts'

/** Which header gives which dimension: `{ user: 'x-user-id' }`, header names in lower case. */
export type HeaderDimensions = Readonly<Record<string, string>>

/** The dimensions that every forward auth request has, and that no header can be mapped to. */
export const ownDimensions = ['route', 'method', 'host', 'ip'] as const

/** Headers whose values are secrets: they are counted, but cannot be read in a store. */
const SECRET = new Set(['authorization', 'proxy-authorization', 'cookie'])

/** Whether a header's value, by its name in lower case, is a secret. */
export function isSecret(header: string): boolean {
  return SECRET.has(header)
}

/**
 * The descriptor of the request that a gateway asks about. From a peer that is not trusted no header
 * is believed, the mapped ones included: it has its own address, and the path it asked for.
 * @throws ServiceError `ERR_AMBIGUOUS_REQUEST`
 */
export function forwardedDescriptor(
  request: IncomingMessage,
  trusted: boolean,
  isTrusted: Trust,
  mapped: HeaderDimensions,
): Descriptor {
  const { url = '/', method = 'GET', headers } = request
  const received = { url, method, headers }
  const original = trusted ? originalRequest(received) : receivedRequest(received)
  const descriptor: Record<string, string> = {
    route: dimensionValue(original.route),
    method: dimensionValue(original.method),
    ip: clientAddress(request, isTrusted),
  }
  if (original.host !== undefined) descriptor['host'] = dimensionValue(original.host)
  for (const [dimension, header] of trusted ? Object.entries(mapped) : []) {
    const value = headers[header]
    const text = Array.isArray(value) ? value.join(', ') : value
    if (text) descriptor[dimension] = isSecret(header) ? hashed(text) : dimensionValue(text)
  }
  return descriptor
}
