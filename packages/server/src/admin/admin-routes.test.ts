import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'
import { readTokens, SCOPES } from './tokens.ts'

const READ = 'reader-0123456789abcdef'
const WRITE = 'writer-0123456789abcdef'
const rules = [{ name: 'per-user', key: ['user'], limit: 1, window: '1m' }]
const descriptor = { user: 'u1' }

let service: ListeningService | undefined
afterEach(() => service?.close())

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const init =
    body === undefined
      ? { method, headers }
      : { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
  return fetch(`${service?.url}${path}`, init)
}

describe('without tokens', () => {
  test('this machine may reset, block and unblock', async () => {
    service = await listeningService({ rules })
    const limit = async () => (await service?.post('/v1/limit', { descriptor }))?.status
    expect([await limit(), await limit()]).toEqual([200, 429])
    expect(await (await ask('POST', '/v1/reset', { descriptor })).json()).toEqual({ reset: true })
    expect(await limit()).toBe(200)
    await ask('POST', '/v1/reset', { descriptor })
    expect(await (await ask('POST', '/v1/block', { descriptor, duration: '1h' })).json()).toEqual({ blocked: true })
    expect(await limit()).toBe(429)
    expect(await (await ask('POST', '/v1/unblock', { descriptor })).json()).toEqual({ unblocked: true })
    expect(await limit()).toBe(200)
  })

  test('a gateway on this machine may not', async () => {
    service = await listeningService({ rules })
    const answer = await ask('GET', '/v1/rules', undefined, { 'x-forwarded-for': '203.0.113.1' })
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([403, 'ERR_FORBIDDEN'])
  })

  test('rules are read and replaced; wrong ones change nothing', async () => {
    service = await listeningService({ rules })
    const before = (await (await ask('GET', '/v1/rules')).json()) as { version: string }
    expect(before).toMatchObject({ rules: [{ name: 'per-user', key: ['user'], limit: 1, windowMs: 60_000 }] })
    const wrong = await ask('PUT', '/v1/rules', { rules: [{ name: 'a', limit: -1, window: '1s' }] })
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { field: 'rules[0].limit' }])
    expect(await (await ask('GET', '/v1/rules')).json()).toEqual(before)
    const changed = await ask('PUT', '/v1/rules', { rules: [{ ...rules[0], limit: 5 }] })
    expect(await changed.json()).toMatchObject({ changed: [{ name: 'per-user', fields: ['limit'] }] })
    expect(await (await ask('GET', '/v1/rules')).json()).toMatchObject({ rules: [{ limit: 5 }] })
    expect(service.log.at(-1)?.msg).toMatch(/replaced over HTTP/)
  })

  test('the admissions of a log', async () => {
    service = await listeningService({ rules: [{ ...rules[0], name: 'log', algorithm: 'sliding-log' } as never] })
    await service.post('/v1/limit', { descriptor, id: 'order-7' })
    const answer = await ask('POST', '/v1/entries', { descriptor })
    expect(await answer.json()).toEqual({ entries: [{ at: 1_700_000_000_000, id: 'order-7', cost: 1 }] })
  })
})

describe('with tokens', () => {
  const bearing = (token: string) => ({ authorization: `Bearer ${token}` })

  test('none, or one that is not known, is 401; one that reads may not write', async () => {
    service = await listeningService({ rules, tokens: `read:${READ},write:${WRITE}` })
    const status = async (method: string, path: string, body: unknown, headers = {}) => {
      const answer = await ask(method, path, body, headers)
      return [answer.status, answer.headers.get('www-authenticate')]
    }
    expect(await status('GET', '/v1/rules', undefined)).toEqual([401, 'Bearer'])
    expect(await status('GET', '/v1/rules', undefined, bearing(`${READ}x`))).toEqual([401, 'Bearer'])
    expect(await status('GET', '/v1/rules', undefined, { authorization: `Basic ${READ}` })).toEqual([401, 'Bearer'])
    expect(await status('GET', '/v1/rules', undefined, bearing(READ))).toEqual([200, null])
    expect((await status('POST', '/v1/reset', { descriptor }, bearing(READ)))[0]).toBe(403)
    expect(await status('POST', '/v1/reset', { descriptor }, bearing(WRITE))).toEqual([200, null])
    expect(await status('GET', '/v1/rules', undefined, bearing(WRITE))).toEqual([200, null])
  })

  test('decisions need none', async () => {
    service = await listeningService({ rules, tokens: `write:${WRITE}` })
    expect((await service.post('/v1/limit', { descriptor })).status).toBe(200)
  })

  test('no token is logged', async () => {
    service = await listeningService({ rules, tokens: `write:${WRITE}` })
    await ask('PUT', '/v1/rules', { rules }, bearing(WRITE))
    await ask('GET', '/v1/rules', undefined, bearing('wrong-0123456789abcdef'))
    expect(JSON.stringify(service.log)).not.toMatch(/0123456789abcdef/)
  })
})

describe('tokens', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-tokens-'))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('are read from a file', () => {
    const file = join(folder, 'tokens')
    writeFileSync(file, `# who reads\nread:${READ}\n\n  write:${WRITE}\n`)
    const tokens = readTokens(file)
    expect([tokens?.scopesOf(READ), tokens?.scopesOf(WRITE), tokens?.scopesOf('')]).toEqual([['read'], SCOPES, []])
  })

  test.each(['read:short', `admin:${READ}`, `read:${READ},`, '/no/such/file', `read:${READ};write:${WRITE}`])(
    '%s are none',
    (text) => expect(readTokens(text)).toBeUndefined(),
  )
})
