import { status } from '@grpc/grpc-js'
import { afterEach, expect, test } from 'vitest'
import { answer, ask, of } from '../testing/ask-limits.ts'
import { type GrpcService, grpcService } from '../testing/grpc-service.ts'

const [OK, OVER] = [1, 2]

let service: GrpcService | undefined
afterEach(() => service?.close())

async function serving(...args: Parameters<typeof grpcService>): Promise<GrpcService> {
  service = await grpcService(...args)
  return service
}

const SITE_AND_USER = `
domain: shop
descriptors:
  - key: site
    rate_limit: { unit: minute, requests_per_unit: 5 }
  - key: user
    rate_limit: { unit: hour, requests_per_unit: 2, name: per-user }
`

test('descriptors answer in their order, each with its limit, what remains and when it is whole again', async () => {
  const { client } = await serving({ config: SITE_AND_USER })
  const descriptors = [of('user=u1'), of('unknown=1'), of('site=a')]
  const { overallCode, statuses } = await client.call(ask, { domain: 'shop', descriptors })
  expect(overallCode).toBe(OK)
  // 1,700,000,000 is 800 s into its hour and 20 s into its minute.
  expect(statuses).toMatchObject([
    {
      code: OK,
      currentLimit: { requestsPerUnit: 2, unit: 3, name: 'per-user' },
      limitRemaining: 1,
      durationUntilReset: { seconds: 2800n },
    },
    { code: OK, limitRemaining: 0 },
    {
      code: OK,
      currentLimit: { requestsPerUnit: 5, unit: 2 },
      limitRemaining: 4,
      durationUntilReset: { seconds: 40n },
    },
  ])
})

test('a refused request charges no descriptor, and its reset is the wait', async () => {
  const running = await serving({ config: SITE_AND_USER })
  const both = [of('site=a'), of('user=u1')]
  await answer(running, both)
  expect(await answer(running, both)).toEqual([OK, [OK, 3, 40], [OK, 0, 2800]])
  expect(await answer(running, both)).toEqual([OVER, [OK, 3, 40], [OVER, 0, 2800]])
  expect(await answer(running, [of('site=a')])).toEqual([OK, [OK, 2, 40]])
})

test('with counting apart, each descriptor is charged by itself', async () => {
  const running = await serving({ config: SITE_AND_USER, settings: { counting: 'apart' } })
  const both = [of('site=a'), of('user=u1')]
  for (const expected of [OK, OK, OVER, OVER]) expect((await answer(running, both))[0]).toBe(expected)
  expect(await answer(running, [of('site=a')])).toEqual([OK, [OK, 0, 40]])
})

test('a descriptor without entries, of which all actions were skipped, has no limit', async () => {
  const running = await serving({ config: SITE_AND_USER })
  expect(await answer(running, [{ entries: [] }, of('site=a')])).toEqual([OK, [OK, 0], [OK, 4, 40]])
})

test('windows are those of the epoch: a new minute begins anew', async () => {
  const running = await serving({ config: SITE_AND_USER })
  await answer(running, [of('site=a')], { hitsAddend: 5 })
  expect(await answer(running, [of('site=a')])).toEqual([OVER, [OVER, 0, 40]])
  running.clock.now += 40_000
  expect(await answer(running, [of('site=a')])).toEqual([OK, [OK, 4, 60]])
})

test('hits: of the request, 0 being 1; of a descriptor, 0 being a look; more than all at once is refused', async () => {
  const running = await serving({ config: SITE_AND_USER })
  expect(await answer(running, [of('site=a')], { hitsAddend: 0 })).toEqual([OK, [OK, 4, 40]])
  expect(await answer(running, [of('site=a')], { hitsAddend: 2 })).toEqual([OK, [OK, 2, 40]])
  expect(await answer(running, [of('site=a', { hitsAddend: 0n })])).toEqual([OK, [OK, 2, 40]])
  expect(await answer(running, [of('site=a', { hitsAddend: 2n })], { hitsAddend: 9 })).toEqual([OK, [OK, 0, 40]])
  expect(await answer(running, [of('site=b', { hitsAddend: 6n })])).toEqual([OVER, [OVER, 0, 60]])
  expect(await answer(running, [of('site=b', { hitsAddend: 2n ** 63n })])).toEqual([OVER, [OVER, 0, 60]])
  expect(await answer(running, [of('site=b')])).toEqual([OK, [OK, 4, 40]])
})

test('negative hits give back, down to nothing and no further', async () => {
  const running = await serving({ config: SITE_AND_USER })
  await answer(running, [of('site=a')], { hitsAddend: 4 })
  const back = (hitsAddend: bigint) => [of('site=a', { hitsAddend, isNegativeHits: true })]
  expect(await answer(running, back(3n))).toEqual([OK, [OK, 4, 40]])
  expect(await answer(running, back(100n))).toEqual([OK, [OK, 5, 0]])
})

test('the same descriptor twice is charged twice', async () => {
  const running = await serving({ config: SITE_AND_USER })
  expect(await answer(running, [of('site=a'), of('site=a')])).toEqual([OK, [OK, 3, 40], [OK, 3, 40]])
})

test('a limit of the request counts instead of the configured one, in a domain that is known', async () => {
  const running = await serving({ config: SITE_AND_USER })
  const own = [of('site=a', { limit: { requestsPerUnit: 1, unit: 7 } })]
  expect((await answer(running, own))[0]).toBe(OK)
  expect((await answer(running, own))[0]).toBe(OVER)
  expect(await answer(running, own, { domain: 'other' })).toEqual([OK, [OK, 0]])
  await expect(answer(running, [of('site=a', { limit: { requestsPerUnit: 1, unit: 0 } })])).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: 'ERR_INVALID_BODY: descriptors[0].limit.unit: expected a unit of the protocol; received 0',
  })
})

test('one word makes a sliding window of a fixed one, another a bucket', async () => {
  const running = await serving({
    config: `
domain: shop
descriptors:
  - key: exact
    rate_limit: { unit: minute, requests_per_unit: 2, algorithm: sliding-window }
  - key: bucket
    rate_limit: { unit: minute, requests_per_unit: 60, algorithm: token-bucket, burst: 3 }
  - key: own
    rate_limit: { window: 90s, requests_per_unit: 1, algorithm: sliding-log }
`,
  })
  await answer(running, [of('exact=1')], { hitsAddend: 2 })
  running.clock.now += 59_999
  expect(await answer(running, [of('exact=1')])).toEqual([OVER, [OVER, 0, 1]])
  running.clock.now += 1
  expect(await answer(running, [of('exact=1')])).toEqual([OK, [OK, 1, 60]])
  expect(await answer(running, [of('bucket=1')], { hitsAddend: 3 })).toEqual([OK, [OK, 0, 3]])
  expect(await answer(running, [of('bucket=1')])).toEqual([OVER, [OVER, 0, 1]])
  expect(await answer(running, [of('own=1')])).toEqual([OK, [OK, 0, 90]])
  expect(await answer(running, [of('own=1')])).toEqual([OVER, [OVER, 0, 90]])
})

test('headers are of the limit that is nearest, and on a refusal of the one that refuses', async () => {
  const headers = { limit: 'X-Limit', remaining: 'X-Left', reset: 'X-Reset' }
  const { client } = await serving({ config: SITE_AND_USER, settings: { headers } })
  const both = [of('site=a'), of('user=u1')]
  const shown = async () => {
    const { responseHeadersToAdd } = await client.call(ask, { domain: 'shop', descriptors: both })
    return responseHeadersToAdd.map(({ key, value }) => `${key}: ${value}`)
  }
  expect(await shown()).toEqual(['X-Limit: 2', 'X-Left: 1', 'X-Reset: 2800'])
  await shown()
  expect(await shown()).toEqual(['X-Limit: 2', 'X-Left: 0', 'X-Reset: 2800', 'Retry-After: 2800'])
})

test('metadata: the request, and what the limits that it passed say', async () => {
  const { client } = await serving({
    config: `
domain: shop
descriptors:
  - key: a
    rate_limit: { unit: minute, requests_per_unit: 1 }
    metadata: { plan: { name: free, seats: 3 }, tags: [x] }
  - key: b
    rate_limit: { unit: minute, requests_per_unit: 9 }
    metadata: { plan: { name: other, owner: me } }
`,
    settings: { dynamicMetadata: true },
  })
  const descriptors = [of('a=1', { hitsAddend: 1n }), of('b=2')]
  const { dynamicMetadata } = await client.call(ask, { domain: 'shop', descriptors, hitsAddend: 2 })
  expect(dynamicMetadata).toEqual({
    domain: 'shop',
    descriptors: [{ entries: ['a=1'], hitsAddend: 1 }, { entries: ['b=2'] }],
    hitsAddend: 2,
    metadata: { plan: { name: 'free', seats: 3, owner: 'me' }, tags: ['x'] },
  })
})

test('values that no key may be are counted too, each by itself', async () => {
  const running = await serving({ config: SITE_AND_USER })
  const odd = ['{a}', '\u0000', 'x'.repeat(5000), '']
  for (const value of odd) {
    expect(await answer(running, [{ entries: [{ key: 'user', value }] }])).toEqual([OK, [OK, 1, 2800]])
  }
})

test.each([
  [{ domain: '' }, 'domain: expected the name of a domain; received none'],
  [{ descriptors: [] }, 'descriptors: expected 1 to 100 descriptors; received 0'],
  [
    { descriptors: Array.from({ length: 10_000 }, () => of('a=1')) },
    'descriptors: expected 1 to 100 descriptors; received 10000',
  ],
  [
    { descriptors: [{ entries: Array.from({ length: 33 }, () => ({ key: 'a', value: '1' })) }] },
    'descriptors[0].entries: expected at most 32 entries; received 33',
  ],
])('a request that is none: %#', async (part, details) => {
  const { client } = await serving({ config: SITE_AND_USER })
  const request = { domain: 'shop', descriptors: [of('site=a')], ...part }
  await expect(client.call(ask, request)).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
    details: `ERR_INVALID_BODY: ${details}`,
  })
})
