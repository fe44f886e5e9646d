import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'

let service: ListeningService
beforeAll(async () => {
  service = await listeningService({
    rules: [
      { name: 'stock', key: ['item'], algorithm: 'quota', limit: 5 },
      { name: 'slots', key: ['printer'], algorithm: 'concurrency', limit: 1, window: '1m' },
    ],
  })
})
afterAll(() => service.close())

async function answer(path: string, body: unknown): Promise<unknown> {
  const response = await service.post(path, body)
  return { status: response.status, ...((await response.json()) as object) }
}

test('POST /v1/refund gives back, of one decision or of the oldest, and says how much', async () => {
  const descriptor = { item: 'a' }
  const decision = await answer('/v1/limit', { descriptor, cost: 3 })
  expect(await answer('/v1/refund', { descriptor, cost: 2, decision })).toMatchObject({
    status: 200,
    refunded: { stock: 2 },
  })
  expect(await answer('/v1/refund', { descriptor, cost: 9 })).toMatchObject({ refunded: { stock: 1 } })
  expect(await answer('/v1/peek', { descriptor, cost: 0 })).toMatchObject({ used: 0 })
})

test('POST /v1/renew and /v1/release keep and end a lease', async () => {
  const descriptor = { printer: 'p' }
  expect(await answer('/v1/limit', { descriptor, id: 'job-1' })).toMatchObject({ allowed: true, id: 'job-1' })
  expect(await answer('/v1/limit', { descriptor, id: 'job-2' })).toMatchObject({ status: 429, allowed: false })
  expect(await answer('/v1/renew', { descriptor, id: 'job-1' })).toEqual({ status: 200, renewed: true })
  expect(await answer('/v1/release', { descriptor, id: 'job-1' })).toEqual({ status: 200, released: true })
  expect(await answer('/v1/release', { descriptor, id: 'job-1' })).toEqual({ status: 200, released: false })
  expect(await answer('/v1/renew', { descriptor, id: 'job-1' })).toEqual({ status: 200, renewed: false })
})

const faults: [path: string, body: unknown, code: string, field: string][] = [
  ['/v1/refund', { descriptor: { item: 'a' }, cost: -1 }, 'ERR_INVALID_COST', 'cost'],
  ['/v1/refund', { descriptor: { item: 'a' }, decision: 'x' }, 'ERR_INVALID_OPTION', 'decision'],
  ...[
    { allowed: true, rules: [null] },
    { allowed: true, rules: [{ rule: 'stock' }] },
    { allowed: true, rules: [{ rule: 'stock', at: 'abc' }] },
    { allowed: true, rules: [{ rule: 'stock', at: -1 }] },
    { allowed: true, rules: [], id: 7 },
  ].map((decision): [string, unknown, string, string] => {
    return ['/v1/refund', { descriptor: { item: 'a' }, decision }, 'ERR_INVALID_OPTION', 'decision']
  }),
  ['/v1/refund', { descriptor: { item: 'a' }, id: 'x' }, 'ERR_INVALID_OPTION', 'id'],
  ['/v1/refund', { descriptor: { item: 'a' }, amount: 1 }, 'ERR_INVALID_BODY', 'amount'],
  ['/v1/release', { descriptor: { printer: 'p' } }, 'ERR_INVALID_OPTION', 'id'],
  ['/v1/renew', { id: 'x' }, 'ERR_INVALID_DESCRIPTOR', 'descriptor'],
]
test.each(faults)('%s %j is refused by name', async (path, body, code, field) => {
  expect(await answer(path, body)).toMatchObject({ status: 400, code, field })
})

test('a lease where no rule has any is refused', async () => {
  const body = { descriptor: { item: 'a' }, id: 'x' }
  expect(await answer('/v1/release', body)).toMatchObject({ status: 400, code: 'ERR_ALGORITHM_UNSUPPORTED' })
})
