import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '../errors.ts'
import { routeOf } from './route.ts'

/** What the gateway was asked for. */
export interface OriginalRequest {
  readonly route: string
  readonly method: string
  readonly host: string | undefined
}

/** What is known without any gateway: the request as it came. */
export interface ReceivedRequest {
  readonly url: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

/** The request itself, for peers that are not believed. */
export function receivedRequest({ url, method, headers }: ReceivedRequest): OriginalRequest {
  return { route: routeOf(url), method, host: hostOf(headers.host) }
}

/**
 * The request that a trusted gateway asks about. nginx is configured to send X-Original-URI and
 * X-Original-Method; Caddy and Traefik send X-Forwarded-Uri, -Method and -Host. A gateway sets its
 * own headers and passes on whatever else its client sent, so where both kinds are there and say
 * different things, one of them is the client's invention.
 * @throws ServiceError `ERR_AMBIGUOUS_REQUEST`
 */
export function originalRequest(received: ReceivedRequest): OriginalRequest {
  const { headers } = received
  const nginx = family(headers, 'x-original-uri', 'x-original-method')
  const forwarded = family(headers, 'x-forwarded-uri', 'x-forwarded-method')
  refuseContradiction('uri', nginx.route, forwarded.route)
  refuseContradiction('method', nginx.method, forwarded.method)
  const chosen = nginx.route === undefined ? forwarded : nginx
  const own = receivedRequest(received)
  return {
    route: chosen.route ?? own.route,
    method: chosen.method ?? own.method,
    host: hostOf(lastOf(textOf(headers['x-forwarded-host']))) ?? own.host,
  }
}

/** True where a request has any header that only a gateway should send. */
export function hasForwardedHeaders(headers: IncomingHttpHeaders): boolean {
  return FORWARDED.some((name) => headers[name] !== undefined)
}

const FORWARDED = [
  'x-forwarded-for',
  'x-forwarded-uri',
  'x-forwarded-method',
  'x-forwarded-host',
  'x-original-uri',
  'x-original-method',
]

function family(headers: IncomingHttpHeaders, uri: string, method: string) {
  const target = textOf(headers[uri])
  return { route: target === undefined ? undefined : routeOf(target), method: textOf(headers[method])?.toUpperCase() }
}

function refuseContradiction(
  name: 'uri' | 'method',
  original: string | undefined,
  forwarded: string | undefined,
): void {
  if (original === undefined || forwarded === undefined || original === forwarded) return
  const expected = `the same as X-Forwarded-${name === 'uri' ? 'Uri' : 'Method'}, or only the header that the gateway sets`
  const field = `X-Original-${name === 'uri' ? 'URI' : 'Method'}`
  throw new ServiceError('ERR_AMBIGUOUS_REQUEST', `${field}: expected ${expected}`, { field, expected })
}

/** A host in one spelling: lower case, without port and final dot. */
export function hostOf(host: string | undefined): string | undefined {
  return host?.trim().toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '') || undefined
}

/** Each gateway adds to the end of a list, so that the last entry is of the one that is trusted. */
function lastOf(list: string | undefined): string | undefined {
  return list?.split(',').at(-1)
}

/** Node joins a header that is sent several times; an empty one says nothing. */
function textOf(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.join(', ') : value
  return text?.trim() || undefined
}
