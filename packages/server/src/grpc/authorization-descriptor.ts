import type { Descriptor } from 'tidegate'
import { isKey } from 'tidegate/store'
import { clientOf, parseAddress } from '../forward-auth/address.ts'
import { dimensionValue, hashed } from '../forward-auth/dimension-value.ts'
import { type HeaderDimensions, isSecret, ownDimensions } from '../forward-auth/forwarded-descriptor.ts'
import { hostOf } from '../forward-auth/original-request.ts'
import { routeOf } from '../forward-auth/route.ts'
import type { AttributeContext } from './generated/envoy/service/auth/v3/attribute_context_pb.ts'

/**
 * The descriptor of a request that Envoy asks about with ext_authz: `route`, `method`, `host` and `ip` as for forward
 * auth, the mapped headers, the `principal` of a client certificate, and what the route's `context_extensions` say.
 * The address is the one that Envoy takes for the client's, after its own X-Forwarded-For settings.
 */
export function authorizationDescriptor(
  attributes: AttributeContext | undefined,
  mapped: HeaderDimensions,
): Descriptor {
  const http = attributes?.request?.http
  const descriptor: Record<string, string> = {
    ...extensions(attributes?.contextExtensions ?? {}),
    route: dimensionValue(routeOf(http?.path ?? '/')),
    method: dimensionValue(http?.method || 'GET'),
    ip: addressOf(attributes) ?? 'unknown',
  }
  const host = hostOf(http?.host)
  if (host !== undefined) descriptor['host'] = dimensionValue(host)
  const principal = attributes?.source?.principal
  if (principal) descriptor['principal'] = dimensionValue(principal)
  const headers = headersOf(attributes)
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

function addressOf(attributes: AttributeContext | undefined): string | undefined {
  const { address } = attributes?.source?.address ?? {}
  if (address?.case !== 'socketAddress') return undefined
  const parsed = parseAddress(address.value.address)
  return parsed === undefined ? undefined : clientOf(parsed)
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
