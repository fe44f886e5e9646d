import { createGate, createLimiter } from 'tidegate'
import { remoteStore } from 'tidegate/remote'
import { afterEach, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'

const STORE = 'clients-0123456789abcdef'
const READ = 'reader-0123456789abcdef'

let service: ListeningService | undefined
afterEach(() => service?.close())

const remote = (token?: string) => {
  const url = service?.url as string
  return remoteStore({ urls: [url], guarded: false, timeoutMs: 10_000, ...(token !== undefined && { token }) })
}

test('a token of the scope store counts by rules of its own, and does nothing else', async () => {
  service = await listeningService({ rules: [], tokens: `store:${STORE},read:${READ}` })
  const limiter = createLimiter({ name: 'l', limit: 2, window: '1h', store: remote(STORE) })
  const decisions = await Promise.all([1, 2, 3].map(() => limiter.limit('k')))
  expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false])
  expect(decisions[0]).toMatchObject({ at: 1_700_000_000_000, used: 1 })
  for (const token of [READ, undefined, 'unknown-0123456789abcdef']) {
    const other = createLimiter({ name: 'l', limit: 2, window: '1h', store: remote(token) })
    await expect(other.limit('k')).rejects.toThrow(/ERR_(?:FORBIDDEN|UNAUTHORIZED)/)
  }
  const headers = { authorization: `Bearer ${STORE}` }
  expect((await fetch(`${service.url}/v1/rules`, { headers })).status).toBe(403)
  expect(await (await fetch(`${service.url}/metrics`)).text()).toContain('tidegate_remote_operations_total 3\n')
})

test('without tokens only this machine may', async () => {
  service = await listeningService({ rules: [] })
  const gate = createGate({ rules: [{ name: 'a', key: ['user'], limit: 1, window: '1h' }], store: remote() })
  expect(await gate.limit({ user: 'u' })).toMatchObject({ allowed: true, rule: 'a', remaining: 0 })
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.1' }
  const answer = await fetch(`${service.url}/v1/store`, { method: 'POST', headers, body: '{"operations":[]}' })
  expect(answer.status).toBe(403)
})

test('a body that is none is a problem document', async () => {
  service = await listeningService({ rules: [] })
  const answer = await service.post('/v1/store', { operations: [], rules: 5 })
  expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'ERR_INVALID_OPTION', field: 'rules' }])
})
