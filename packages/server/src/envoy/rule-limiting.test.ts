import { status } from '@grpc/grpc-js'
import { afterEach, expect, test } from 'vitest'
import { RateLimitService } from '../grpc/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { type GrpcService, grpcService } from '../testing/grpc-service.ts'

const ask = RateLimitService.method.shouldRateLimit
const rules = [
  { name: 'site', match: { domain: 'shop' }, limit: 10, window: '1m' },
  { name: 'per-user', key: ['user'], limit: 2, window: '1h' },
  { name: 'user-route', key: ['user', 'route'], limit: 1, window: '90s' },
]

let service: GrpcService | undefined
afterEach(() => service?.close())

async function asking(...descriptors: object[]) {
  service ??= await grpcService({ rules })
  return service.client.call(ask, { domain: 'shop', descriptors })
}

const of = (...pairs: [string, string][]) => ({ entries: pairs.map(([key, value]) => ({ key, value })) })

test('the entries of all descriptors are the dimensions of one request; each answers for the rules it meets', async () => {
  service = undefined
  const answer = await asking(of(['other', '1']), of(['user', 'u1']), of(['route', '/order']))
  expect(answer).toMatchObject({
    overallCode: 1,
    statuses: [
      { code: 1, currentLimit: { requestsPerUnit: 10, unit: 2, name: 'site' }, limitRemaining: 9 },
      { code: 1, currentLimit: { requestsPerUnit: 2, unit: 3, name: 'per-user' }, limitRemaining: 1 },
      { code: 1, currentLimit: { requestsPerUnit: 1, unit: 0, name: 'user-route' }, limitRemaining: 0 },
    ],
  })
  const headers = answer.responseHeadersToAdd.map(({ key }) => key)
  expect(headers).toEqual(['RateLimit-Policy', 'RateLimit'])
  const refused = await asking(of(['user', 'u1']), of(['route', '/order']))
  expect(refused).toMatchObject({
    overallCode: 2,
    statuses: [{ code: 1 }, { code: 2, durationUntilReset: { seconds: 90n } }],
  })
  expect(refused.responseHeadersToAdd.map(({ key }) => key)).toContain('Retry-After')
  // Nothing was charged by the refusal.
  expect((await asking(of(['user', 'u1'])))['statuses']).toMatchObject([{ code: 1, limitRemaining: 0 }])
})

test('negative hits give back', async () => {
  service = await grpcService({ rules })
  await asking(of(['user', 'u2']))
  const answer = await asking({ ...of(['user', 'u2']), hitsAddend: 1n, isNegativeHits: true })
  expect(answer).toMatchObject({ overallCode: 1, statuses: [{ limitRemaining: 10 }] })
})

test.each([
  [
    [of(['user', 'a']), of(['user', 'b'])],
    'descriptors[1].entries: expected one value of user in a request: rules see all descriptors as one',
  ],
  [
    [of(['user', 'a']), { ...of(['route', 'b']), hitsAddend: 3n }],
    'descriptors[1].hits_addend: expected that of the first descriptor: rules charge a request as one',
  ],
  [
    [{ ...of(['user', 'a']), limit: { requestsPerUnit: 1, unit: 1 } }],
    'descriptors[0].limit: expected none: rules have limits of their own',
  ],
])('what rules cannot decide as one request: %#', async (descriptors, details) => {
  service = await grpcService({ rules })
  await expect(asking(...descriptors)).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: `ERR_INVALID_BODY: ${details}`,
  })
})

test('rules in shadow are in no status; what is unlimited decides none; what a rule requires refuses', async () => {
  service = await grpcService({
    rules: [
      { name: 'tried', key: ['user'], limit: 0, window: '1m', shadow: true },
      { name: 'vip', match: { user: 'vip' }, key: ['user'], unlimited: true },
      { name: 'per-user', match: { user: { not: 'vip' } }, key: ['user'], limit: 2, window: '1m' },
      { name: 'tenants', match: { path: '/t' }, key: ['tenant'], limit: 2, window: '1m', required: true },
    ],
  })
  expect(await asking(of(['user', 'u1']))).toMatchObject({
    overallCode: 1,
    statuses: [{ code: 1, currentLimit: { name: 'per-user', requestsPerUnit: 2 }, limitRemaining: 1 }],
  })
  const vip = await asking(of(['user', 'vip']))
  expect(vip).toMatchObject({ overallCode: 1, statuses: [{ code: 1, limitRemaining: 2 ** 32 - 1 }] })
  expect(vip.statuses[0]?.currentLimit).toBeUndefined()
  expect(vip.responseHeadersToAdd).toEqual([])
  expect(await asking(of(['user', 'u1']), of(['path', '/t']))).toMatchObject({
    overallCode: 2,
    statuses: [{ code: 1 }, { code: 2, currentLimit: { name: 'tenants' }, limitRemaining: 0 }],
  })
})
