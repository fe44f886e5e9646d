import { afterEach, expect, test } from 'vitest'
import { type GrpcService, grpcService } from '../testing/grpc-service.ts'
import { Authorization, type CheckResponse } from './generated/envoy/service/auth/v3/external_auth_pb.ts'

const check = Authorization.method.check
const rules = [
  { name: 'per-user', key: ['user'], limit: 1, window: '1m' },
  { name: 'order', match: { route: '/order', method: 'POST' }, key: ['ip'], limit: 1, window: '1m' },
  { name: 'per-plan', key: ['plan', 'host'], limit: 2, window: '1m' },
  { name: 'per-service', key: ['principal'], limit: 1, window: '1m' },
]

let service: GrpcService | undefined
afterEach(() => service?.close())

async function serving(more: object = {}): Promise<GrpcService> {
  service = await grpcService({ rules, headers: { user: 'x-user', token: 'authorization' }, ...more })
  return service
}

function attributes(http: object, more: object = {}) {
  return { attributes: { request: { http: { method: 'GET', path: '/', ...http } }, ...more } }
}

function from(address: string) {
  return { source: { address: { address: { case: 'socketAddress' as const, value: { address } } } } }
}

function headersOf({ httpResponse: { value } }: CheckResponse): Record<string, string> {
  const options = value && 'responseHeadersToAdd' in value ? value.responseHeadersToAdd : (value?.headers ?? [])
  return Object.fromEntries(options.map(({ header }) => [header?.key, header?.value]))
}

test('what passes gets the headers of the decision on its response, and the decision as metadata', async () => {
  const { client } = await serving()
  const answer = await client.call(check, attributes({ headers: { 'x-user': 'u1' } }))
  expect(answer).toMatchObject({ status: { code: 0 }, httpResponse: { case: 'okResponse' } })
  expect(headersOf(answer)).toEqual({ 'RateLimit-Policy': '"per-user";q=1;w=60', RateLimit: '"per-user";r=0;t=60' })
  expect(answer.dynamicMetadata).toMatchObject({ allowed: true, rule: 'per-user', remaining: 0, reason: 'ok' })
})

test('a refusal is 429 with Retry-After, the headers of the decision and a problem document', async () => {
  const { client } = await serving()
  const request = attributes({ headers: { 'x-user': 'u1' } })
  await client.call(check, request)
  const answer = await client.call(check, request)
  expect(answer).toMatchObject({ status: { code: 8 }, httpResponse: { case: 'deniedResponse' } })
  const { status, body } = answer.httpResponse.value as { status: { code: number }; body: string }
  expect(status.code).toBe(429)
  expect(JSON.parse(body)).toEqual({
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Too many requests',
    status: 429,
    'violated-policies': ['per-user'],
  })
  expect(headersOf(answer)).toMatchObject({ 'Retry-After': '60', 'Content-Type': 'application/problem+json' })
  expect(answer.dynamicMetadata).toMatchObject({ allowed: false, reason: 'over_limit', retryAfterMs: 60_000 })
})

test('rules in shadow have no part in a refusal; what lacks a dimension that is required is told no wait', async () => {
  const { client } = await serving({
    rules: [
      { name: 'tried', key: ['user'], limit: 0, window: '1m', shadow: true },
      { name: 'per-plan', key: ['plan'], limit: 1, window: '1m', required: true },
    ],
    headers: { user: 'x-user', plan: 'x-plan' },
  })
  const passed = await client.call(check, attributes({ headers: { 'x-user': 'u1', 'x-plan': 'free' } }))
  expect(passed).toMatchObject({ status: { code: 0 }, httpResponse: { case: 'okResponse' } })
  expect(headersOf(passed)).toMatchObject({ RateLimit: '"per-plan";r=0;t=60' })
  const refused = await client.call(check, attributes({ headers: { 'x-user': 'u1' } }))
  expect(refused).toMatchObject({ status: { code: 8, message: 'refused by per-plan' } })
  const { body } = refused.httpResponse.value as { body: string }
  expect(JSON.parse(body)).toMatchObject({ 'violated-policies': ['per-plan'] })
  expect(headersOf(refused)).not.toHaveProperty('Retry-After')
  expect(refused.dynamicMetadata).toMatchObject({ reason: 'missing_dimension', retryAfterMs: null })
})

test('the status of a refusal is that of the configuration file', async () => {
  const { client } = await serving({ denyStatus: 403 })
  const request = attributes({ headers: { 'x-user': 'u1' } })
  await client.call(check, request)
  expect(await client.call(check, request)).toMatchObject({ httpResponse: { value: { status: { code: 403 } } } })
})

test('however the path is spelt, it is one route; addresses of one client are one', async () => {
  const { client } = await serving()
  const ask = async (path: string, address: string) => {
    const { status } = await client.call(check, attributes({ path, method: 'POST' }, from(address)))
    return status?.code
  }
  expect(await ask('/order', '192.0.2.1')).toBe(0)
  expect(await ask('//x/../%6Frder?a=1', '192.0.2.1')).toBe(8)
  expect(await ask('/order', '::ffff:192.0.2.1')).toBe(8)
  expect(await ask('/order', '2001:db8::1')).toBe(0)
  expect(await ask('/order', '2001:db8::2')).toBe(8)
})

test('X-Forwarded-For is read past the hops that are trusted, and not from others', async () => {
  const { client } = await serving()
  const ask = async (forwarded: string, peer: string) => {
    const http = { path: '/order', method: 'POST', headers: { 'x-forwarded-for': forwarded } }
    const { status } = await client.call(check, attributes(http, from(peer)))
    return status?.code
  }
  expect(await ask('198.51.100.1, 192.0.2.1, 127.0.0.2', '127.0.0.1')).toBe(0)
  expect(await ask('198.51.100.2, 192.0.2.1', '127.0.0.1')).toBe(8)
  expect(await ask('198.51.100.3', '192.0.2.1')).toBe(8)
  expect(await ask('198.51.100.3', '127.0.0.1')).toBe(0)
})

test("the route's extensions are dimensions, but not those of the request itself; a host has one spelling", async () => {
  const { client } = await serving()
  const ask = async (host: string, contextExtensions: Record<string, string>) => {
    const { dynamicMetadata } = await client.call(check, attributes({ host }, { contextExtensions }))
    return dynamicMetadata?.['remaining']
  }
  expect(await ask('Shop.example:443', { plan: 'free', host: 'another' })).toBe(1)
  expect(await ask('shop.example', { plan: 'free' })).toBe(0)
})

test('headers as bytes, and the principal of a client certificate', async () => {
  const { client } = await serving()
  const headers = [{ key: 'x-user', rawValue: Buffer.from('u2') }]
  const first = await client.call(check, attributes({ headerMap: { headers } }))
  expect(first.dynamicMetadata).toMatchObject({ rule: 'per-user' })
  const principal = { source: { principal: 'spiffe://shop/cart' } }
  expect((await client.call(check, attributes({}, principal))).dynamicMetadata).toMatchObject({ rule: 'per-service' })
})

test('a request without attributes is one without dimensions that are known', async () => {
  const { client } = await serving()
  expect(await client.call(check, {})).toMatchObject({ status: { code: 0 } })
})
