import { type Store, TidegateError } from 'tidegate'
import { guard } from 'tidegate/store'
import { afterEach, expect, test } from 'vitest'
import { answer, of } from '../testing/ask-limits.ts'
import { failingStore } from '../testing/failing-store.ts'
import { type GrpcService, grpcService } from '../testing/grpc-service.ts'

const [OK, OVER] = [1, 2]
const CONFIG = `
domain: shop
descriptors:
  - { key: strict, rate_limit: { unit: hour, requests_per_unit: 2 } }
  - { key: quota, quota_mode: true, rate_limit: { unit: hour, requests_per_unit: 4 } }
`

let service: GrpcService | undefined
const opened: Store[] = []
afterEach(async () => {
  await service?.close()
  await Promise.all(opened.splice(0).map((store) => store.close()))
})

function guarded(store: Store, options: Parameters<typeof guard>[1] = {}): Store {
  const one = guard(store, options)
  opened.push(one)
  return one
}

const codes = ([overall, ...statuses]: unknown[]) => [overall, ...statuses.map((one) => (one as unknown[]).slice(0, 2))]

test.each([
  ['fails', { decide: failingStore(new TidegateError('ERR_STORE_UNAVAILABLE', 'gone')).decide }],
  ['does not answer by the deadline', { decide: () => new Promise<never>(() => undefined) }],
])('a store that %s: limits are counted in this process, and quotas given back there', async (_, broken) => {
  const store = guarded({ ...failingStore(new TidegateError('ERR_STORE_UNAVAILABLE', 'gone')), ...broken })
  service = await grpcService({ config: CONFIG, store })
  const both = [of('strict=1'), of('quota=1')]
  for (const left of [1, 0]) {
    expect(codes(await answer(service, both))).toEqual([OK, [OK, left], [OK, left + 2]])
  }
  // The quota has what the refusal has given back.
  expect(codes(await answer(service, both))[0]).toBe(OVER)
  expect(codes(await answer(service, [of('quota=1')]))).toEqual([OK, [OK, 1]])
})

test('with so many instances each counts its share', async () => {
  const store = guarded(failingStore(new TidegateError('ERR_STORE_UNAVAILABLE', 'gone')), { instances: 2 })
  service = await grpcService({ config: CONFIG, store })
  expect(codes(await answer(service, [of('strict=1')]))).toEqual([OK, [OK, 0]])
  expect(codes(await answer(service, [of('strict=1')]))).toEqual([OVER, [OVER, 0]])
})
