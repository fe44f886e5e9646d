import { afterEach, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'

const READ = 'reader-0123456789abcdef'
const rules = [
  { name: 'per-user', key: ['user'], limit: 3, window: '1m', overrides: [{ user: 'vip', limit: 100 }] },
  { name: 'orders', match: { route: '/order' }, key: ['tenant', 'user'], limit: 5, window: '1h' },
  { name: 'jobs', key: ['user'], limit: 2, window: '1m', algorithm: 'concurrency' as const },
]

let service: ListeningService | undefined
afterEach(() => service?.close())
const ask = async (query: string, headers = {}) => {
  const answer = await fetch(`${service?.url}/v1/keys?${query}`, { headers })
  return [answer.status, await answer.json()] as const
}

test('shows how a counter stands, and counts nothing', async () => {
  service = await listeningService({ rules })
  await service.post('/v1/limit', { descriptor: { user: 'u1' }, id: 'job-1' })
  const state = {
    ...{ algorithm: 'sliding-window', windowMs: 60_000, key: { user: 'u1' } },
    redisKey: expect.stringMatching(/^tg:\{u1\}:per-user\.\w+$/),
    figures: { rule: 'per-user', allowed: true, limit: 3, used: 2, remaining: 1 },
  }
  for (const _ of [1, 2]) expect(await ask('rule=per-user&user=u1')).toMatchObject([200, state])
  expect(await ask('rule=per-user&user=vip')).toMatchObject([200, { figures: { limit: 100, used: 1 } }])
  expect(await ask('rule=jobs&user=u1')).toMatchObject([200, { entries: [{ id: 'job-1', cost: 1 }] }])
})

test('a rule that would not match what is asked of is shown all the same', async () => {
  service = await listeningService({ rules })
  await service.post('/v1/limit', { descriptor: { route: '/order', tenant: 't', user: 'u' } })
  expect(await ask('rule=orders&tenant=t&user=u')).toMatchObject([200, { figures: { used: 2, limit: 5 } }])
})

test.each([
  ['', 'rule'],
  ['rule=none', 'rule'],
  ['rule=per-user', 'user'],
  ['rule=per-user&user=a&user=b', 'user'],
])('%j names what is wrong', async (query, field) => {
  service = await listeningService({ rules })
  expect(await ask(query)).toMatchObject([400, { code: 'ERR_INVALID_QUERY', field }])
})

test('is for those who may read', async () => {
  service = await listeningService({ rules, tokens: `read:${READ}` })
  expect((await ask('rule=per-user&user=u'))[0]).toBe(401)
  expect((await ask('rule=per-user&user=u', { authorization: `Bearer ${READ}` }))[0]).toBe(200)
})
