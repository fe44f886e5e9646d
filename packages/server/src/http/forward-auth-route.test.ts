import { createHash } from 'node:crypto'
import type { RuleOptions } from 'tidegate'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'
import { rawExchange } from '../testing/raw-exchange.ts'

const LIMIT = 4_000_000
/** One rule for each dimension: who is counted with whom shows what the service took it for. */
const rules: RuleOptions[] = ['route', 'method', 'host', 'ip', 'user', 'token'].map((dimension) => ({
  name: dimension,
  key: [dimension],
  limit: LIMIT,
  window: '1m',
}))
const headers = { user: 'x-user-id', token: 'authorization' }

let trusting: ListeningService
let trustless: ListeningService
beforeAll(async () => {
  trusting = await listeningService({ rules, headers, trust: '127.0.0.1,10.0.0.0/8' })
  trustless = await listeningService({ rules, headers })
})
afterAll(() => Promise.all([trusting.close(), trustless.close()]))

/** The names of the rules that applied. */
async function rulesOf(
  service: ListeningService,
  sent: Record<string, string>,
  init: RequestInit = {},
): Promise<string[]> {
  const response = await fetch(`${service.url}/auth`, { ...init, headers: sent })
  expect(response.status).toBe(200)
  return [...(response.headers.get('ratelimit') ?? '').matchAll(/"(\w+)";/g)].map(([, name]) => name as string)
}

/** How much has been counted under a value of a dimension. */
async function countOf(service: ListeningService, dimension: string, value: string): Promise<number> {
  const response = await service.post('/v1/peek', { descriptor: { [dimension]: value }, cost: 0 })
  return ((await response.json()) as { used: number }).used
}

/** By how much one request to /auth raised the count of a value. */
async function rise(
  service: ListeningService,
  dimension: string,
  value: string,
  sent: Record<string, string>,
): Promise<number> {
  const before = await countOf(service, dimension, value)
  await rulesOf(service, sent)
  return (await countOf(service, dimension, value)) - before
}

describe('from a trusted gateway', () => {
  const asked: [name: string, headers: Record<string, string>, dimension: string, value: string][] = [
    ['nginx names the path', { 'x-original-uri': '//or%64er?a=1' }, 'route', '/order'],
    ['nginx names the method', { 'x-original-uri': '/a', 'x-original-method': 'DELETE' }, 'method', 'DELETE'],
    ['Caddy and Traefik name the path', { 'x-forwarded-uri': '/order/../x?y' }, 'route', '/x'],
    [
      'Caddy and Traefik name the method',
      { 'x-forwarded-uri': '/a', 'x-forwarded-method': 'PATCH' },
      'method',
      'PATCH',
    ],
    ['Caddy and Traefik name the host', { 'x-forwarded-host': 'Shop.Example.:8443' }, 'host', 'shop.example'],
    [
      'the last of several hosts is the gateway’s',
      { 'x-forwarded-host': 'forged, shop.example' },
      'host',
      'shop.example',
    ],
    [
      'the client is the nearest hop that is not trusted',
      { 'x-forwarded-for': '6.6.6.6, 1.2.3.4, 10.1.1.1' },
      'ip',
      '1.2.3.4',
    ],
    ['a trusted hop may have a port', { 'x-forwarded-for': '1.2.3.5:5555, 10.1.1.1:80' }, 'ip', '1.2.3.5'],
    ['IPv4 inside IPv6 is IPv4', { 'x-forwarded-for': '::ffff:1.2.3.6' }, 'ip', '1.2.3.6'],
    ['IPv6 is counted by its network', { 'x-forwarded-for': '2001:db8::dead:beef' }, 'ip', '2001:db8::/64'],
    [
      'what is no address is counted by the hop that sent it',
      { 'x-forwarded-for': '1.2.3.4, unknown' },
      'ip',
      '127.0.0.1',
    ],
    ['no X-Forwarded-For is the gateway itself', {}, 'ip', '127.0.0.1'],
    ['a mapped header is a dimension', { 'x-user-id': 'u1' }, 'user', 'u1'],
  ]
  test.each(asked)('%s', async (_name, sent, dimension, value) => {
    expect(await rise(trusting, dimension, value, sent)).toBe(1)
  })

  test.each([
    ['braces', 'user', 'x-user-id', '{u1}'],
    ['length', 'user', 'x-user-id', 'a'.repeat(4097)],
    ['being a secret', 'token', 'authorization', 'Bearer x'],
  ])(
    'a value that cannot be a key for its %s is counted by its hash, and not let through',
    async (_name, dimension, header, value) => {
      const hash = `sha256:${createHash('sha256').update(value).digest('hex')}`
      expect(await rise(trusting, dimension, hash, { [header]: value })).toBe(1)
    },
  )

  test('a dimension without its header is left out', async () => {
    expect(await rulesOf(trusting, {})).toEqual(['route', 'method', 'host', 'ip'])
    expect(await rulesOf(trusting, { 'x-user-id': 'u' })).toEqual(['route', 'method', 'host', 'ip', 'user'])
  })

  test.each([
    ['path', { 'x-original-uri': '/a', 'x-forwarded-uri': '/b' }],
    ['method', { 'x-original-uri': '/a', 'x-original-method': 'GET', 'x-forwarded-method': 'POST' }],
  ])('two gateways’ headers with another %s each are 400: one of them came from the client', async (_name, sent) => {
    const response = await fetch(`${trusting.url}/auth`, { headers: sent })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      code: 'ERR_AMBIGUOUS_REQUEST',
      field: expect.stringMatching(/^X-Original-/),
    })
  })

  test('two gateways’ headers that agree are one request', async () => {
    expect(await rise(trusting, 'route', '/same', { 'x-original-uri': '/same?a', 'x-forwarded-uri': '//same' })).toBe(1)
  })

  test('no target is an error of the service, or passes uncounted', async () => {
    const targets = [
      '/\\',
      '/%',
      '/%zz',
      '/%00',
      '/\x7f',
      '/{}',
      '/\xff\xfe',
      '?',
      '#',
      '*',
      'http://',
      'http:///',
      '//',
      `/${'a'.repeat(9000)}`,
      '/%2e%2e/%2e%2e',
      '::',
      '\t',
    ]
    for (const target of targets) {
      const request = Buffer.from(
        `GET /auth HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Original-URI: ${target}\r\n\r\n`,
        'latin1',
      )
      const answer = await rawExchange(trusting.port, request)
      // A control character that HTTP does not allow is the parser's to refuse.
      expect(answer, JSON.stringify(target)).toMatch(
        target === '/\x7f' ? /^HTTP\/1\.1 (200|400) / : /^HTTP\/1\.1 200 OK\r\n/,
      )
      if (target !== '/\x7f') expect(answer).toContain('"route";r=')
    }
  })

  test('every method is answered, with any body and of any type', async () => {
    for (const method of [
      'GET',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'HEAD',
      'PROPFIND',
      'PURGE',
      'MKCOL',
      'SEARCH',
    ]) {
      const body = 'x'.repeat(100)
      const lines = [
        `${method} /auth HTTP/1.1`,
        'Host: x',
        'Content-Type: ;;;',
        `Content-Length: ${body.length}`,
        'Connection: close',
      ]
      const answer = await rawExchange(trusting.port, `${lines.join('\r\n')}\r\n\r\n${body}`)
      expect(answer.slice(0, 12), method).toBe('HTTP/1.1 200')
      expect(await countOf(trusting, 'method', method), method).toBeGreaterThan(0)
    }
  })

  test('a body that is not read leaves the connection usable', async () => {
    const first = `POST /auth HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello`
    const answer = await rawExchange(
      trusting.port,
      `${first}GET /auth HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    )
    expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2)
  })
})

describe('from a peer that is not trusted', () => {
  const forged = {
    'x-forwarded-for': '9.9.9.9',
    'x-forwarded-uri': '/forged',
    'x-forwarded-method': 'PUT',
    'x-forwarded-host': 'forged.example',
    'x-user-id': 'admin',
  }
  test.each([
    ['ip', '127.0.0.1', '9.9.9.9'],
    ['route', '/auth', '/forged'],
    ['method', 'GET', 'PUT'],
    ['host', '127.0.0.1', 'forged.example'],
  ])('the %s is %s whatever its headers say', async (dimension, own, claimed) => {
    expect(await rise(trustless, dimension, own, forged)).toBe(1)
    expect(await countOf(trustless, dimension, claimed)).toBe(0)
  })

  test('mapped headers give no dimension', async () => {
    expect(await rulesOf(trustless, forged)).toEqual(['route', 'method', 'host', 'ip'])
  })

  test('the log says so once, and names the flag', async () => {
    await rulesOf(trustless, forged)
    await rulesOf(trustless, forged)
    const warnings = trustless.log.filter(({ msg }) => msg.includes('headers of'))
    expect(warnings.map(({ msg }) => msg)).toEqual([expect.stringContaining('start with --trust-proxy 127.0.0.1')])
    expect(trusting.log.filter(({ msg }) => msg.includes('--trust-proxy'))).toEqual([])
  })
})

describe('a refusal', () => {
  let service: ListeningService | undefined
  afterEach(() => service?.close())

  async function refused(query: string, denyStatus?: 401 | 403 | 429): Promise<Response> {
    const strict: RuleOptions[] = [
      { name: 'none', key: ['ip'], limit: 0, window: '1m' },
      { name: 'some', key: ['ip'], limit: 1, window: '1m' },
    ]
    service = await listeningService({ rules: strict, ...(denyStatus && { denyStatus }) })
    return fetch(`${service.url}/auth${query}`)
  }

  test.each([
    ['', undefined, 429],
    ['', 403, 403],
    ['?deny_status=403', undefined, 403],
    ['?deny_status=401', 403, 401],
    ['?deny_status=429', 403, 429],
  ] as const)('with query "%s" and the file’s %s is %i', async (query, denyStatus, status) => {
    const response = await refused(query, denyStatus)
    expect(response.status).toBe(status)
    expect(response.headers.get('ratelimit-policy')).toBe('"none";q=0;w=60, "some";q=1;w=60')
    expect(response.headers.get('tidegate-at')).toBe('1700000000000')
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(await response.json()).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too many requests',
      status,
      'violated-policies': ['none'],
    })
  })

  test.each(['?deny_status=200', '?deny_status=', '?deny_status=403&deny_status=429', '?deny=403', '?__proto__=1'])(
    '%s is 400',
    async (query) => {
      const response = await refused(query)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ code: 'ERR_INVALID_QUERY' })
    },
  )

  test('says when to come back', async () => {
    service = await listeningService({ rules: [{ name: 'a', key: ['ip'], limit: 1, window: 1500 }] })
    await fetch(`${service.url}/auth`)
    const response = await fetch(`${service.url}/auth`)
    expect([response.status, response.headers.get('retry-after'), response.headers.get('ratelimit')]).toEqual([
      429,
      '2',
      '"a";r=0;t=2',
    ])
  })
})
