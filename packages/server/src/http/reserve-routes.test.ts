import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'

let service: ListeningService
beforeAll(async () => {
  service = await listeningService({
    rules: [
      { name: 'tokens', key: ['user'], limit: 1000, window: '1m' },
      { name: 'budget', key: ['user'], algorithm: 'quota', limit: 1500 },
    ],
  })
})
afterAll(() => service.close())

async function answer(path: string, body: unknown): Promise<unknown> {
  const response = await service.post(path, body)
  return { status: response.status, ...((await response.json()) as object) }
}

test('POST /v1/reserve charges every rule that matches; /v1/settle puts the actual cost in its place, once', async () => {
  const descriptor = { user: 'a' }
  const reserved = await answer('/v1/reserve', { descriptor, cost: 800, id: 'r-1', expiresIn: '5m' })
  expect(reserved).toMatchObject({ status: 200, allowed: true, id: 'r-1', rules: [{ used: 800 }, { used: 800 }] })
  const settlement = { settled: true, charged: 0, refunded: 500 }
  expect(await answer('/v1/settle', { descriptor, id: 'r-1', cost: 300 })).toEqual({
    status: 200,
    settled: true,
    rules: [
      { rule: 'tokens', ...settlement },
      { rule: 'budget', ...settlement },
    ],
  })
  const unsettled = { settled: false, charged: 0, refunded: 0 }
  expect(await answer('/v1/settle', { descriptor, id: 'r-1', cost: 300 })).toMatchObject({
    status: 200,
    settled: false,
    rules: [unsettled, unsettled],
  })
  expect(await answer('/v1/peek', { descriptor, cost: 0 })).toMatchObject({ rules: [{ used: 300 }, { used: 300 }] })
})

test('an excess is charged past the limit; a refusal is 429 with its headers and reserves nothing; cancel gives all back', async () => {
  const descriptor = { user: 'b' }
  const { id } = (await answer('/v1/reserve', { descriptor, cost: 900 })) as { id: string }
  expect(await answer('/v1/settle', { descriptor, id, cost: 1200 })).toMatchObject({ rules: [{ charged: 300 }, {}] })
  const refusal = await service.post('/v1/reserve', { descriptor, cost: 1, id: 'r-2' })
  expect([refusal.status, refusal.headers.get('retry-after')]).toEqual([429, '60'])
  expect(await refusal.json()).toMatchObject({ allowed: false, id: null, used: 1200 })
  expect(await answer('/v1/cancel', { descriptor, id: 'r-2' })).toMatchObject({ status: 200, settled: false })
  const other = { user: 'c' }
  await answer('/v1/reserve', { descriptor: other, cost: 10, id: 'r-3' })
  expect(await answer('/v1/cancel', { descriptor: other, id: 'r-3' })).toMatchObject({ rules: [{ refunded: 10 }, {}] })
})

const descriptor = { user: 'd' }
const faults: [path: string, body: unknown, code: string, field: string][] = [
  ['/v1/reserve', { descriptor }, 'ERR_INVALID_COST', 'cost'],
  ['/v1/reserve', { descriptor, cost: 0 }, 'ERR_INVALID_COST', 'cost'],
  ['/v1/reserve', { descriptor, cost: 1, expiresIn: '400d' }, 'ERR_INVALID_OPTION', 'expiresIn'],
  ['/v1/reserve', { descriptor, cost: 1, id: '' }, 'ERR_INVALID_OPTION', 'id'],
  ['/v1/reserve', { cost: 1 }, 'ERR_INVALID_DESCRIPTOR', 'descriptor'],
  ['/v1/reserve', { descriptor, cost: 1, ttl: 5 }, 'ERR_INVALID_BODY', 'ttl'],
  ['/v1/settle', { descriptor, id: 'x' }, 'ERR_INVALID_COST', 'cost'],
  ['/v1/settle', { descriptor, cost: 1 }, 'ERR_INVALID_OPTION', 'id'],
  ['/v1/cancel', { descriptor, id: 'x', cost: 1 }, 'ERR_INVALID_BODY', 'cost'],
]
test.each(faults)('%s %j is refused by name', async (path, body, code, field) => {
  expect(await answer(path, body)).toMatchObject({ status: 400, code, field })
})
