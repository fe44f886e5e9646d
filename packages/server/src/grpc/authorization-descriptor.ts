import type { Descriptor } from 'tidegate'
import { isKey } from 'tidegate/store'
import { clientAddress, type Hops } from '../forward-auth/client-address.ts'
import { dimensionValue, hashed } from '../forward-auth/dimension-value.ts'
import { type HeaderDimensions, isSecret, ownDimensions } from '../forward-auth/forwarded-descriptor.ts'
import { hostOf } from '../forward-auth/original-request.ts'
import { routeOf } from '../forward-auth/route.ts'
import type { Trust } from '../settings/trust.ts'
import type { AttributeContext } from './generated/envoy/service/auth/v3/attribute_context_pb.ts'

/**
 * The descriptor of a request that Envoy asks about with ext_authz: `route`, `method`, `host` and `ip` as for forward
 * auth, the mapped headers, the `principal` of a client certificate, and what the route's `context_extensions` say.
 * Envoy tells the peer of its connection, whatever it thinks of X-Forwarded-For; so that is read here, past the hops that
 * are trusted.
 */
export function authorizationDescriptor(
  attributes: AttributeContext | undefined,
  mapped: HeaderDimensions,
  isTrusted: Trust,
): Descriptor {
  const http = attributes?.request?.http
  const headers = headersOf(attributes)
  const descriptor: Record<string, string> = {
    ...extensions(attributes?.contextExtensions ?? {}),
    route: dimensionValue(routeOf(http?.path ?? '/')),
    method: dimensionValue(http?.method || 'GET'),
    ip: clientAddress(hopsOf(attributes, headers('x-forwarded-for')), isTrusted),
  }
  const host = hostOf(http?.host)
  if (host !== undefined) descriptor['host'] = dimensionValue(host)
  const principal = attributes?.source?.principal
  if (principal) descriptor['principal'] = dimensionValue(principal)
  for (const [dimension, header] of Object.entries(mapped)) {
    const text = headers(header)
    if (text) descriptor[dimension] = isSecret(header) ? hashed(text) : dimensionValue(text)
  }
  return descriptor
}

/** What the operator has written at the route; the dimensions of the request itself are not his to say. */
function extensions(given: Readonly<Record<string, string>>): Record<string, string> {
  const own: readonly string[] = ownDimensions
  const entries = Object.entries(given).filter(([name, value]) => isKey(name) && value !== '' && !own.includes(name))
  return Object.fromEntries(entries.map(([name, value]) => [name, dimensionValue(value)]))
}

function hopsOf(attributes: AttributeContext | undefined, forwardedFor: string | undefined): Hops {
  const { address } = attributes?.source?.address ?? {}
  const remoteAddress = address?.case === 'socketAddress' ? address.value.address : undefined
  return { socket: { remoteAddress }, headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor } }
}

/** Envoy sends headers as a mapping or, with `encode_raw_headers`, as a list of bytes. */
function headersOf(attributes: AttributeContext | undefined): (name: string) => string | undefined {
  const http = attributes?.request?.http
  return (name) => {
    const text = http?.headers[name]
    if (text !== undefined) return text
    const values = http?.headerMap?.headers.filter(({ key }) => key.toLowerCase() === name) ?? []
    if (values.length === 0) return undefined
    return values.map(({ value, rawValue }) => value || Buffer.from(rawValue).toString('latin1')).join(', ')
  }
}
