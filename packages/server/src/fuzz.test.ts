import fc from 'fast-check'
import { createLimiter, TidegateError } from 'tidegate'
import { type RedisClient, redisStore } from 'tidegate/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseConfig } from './config/load-config.ts'
import { type ListeningService, listeningService } from './testing/listening-service.ts'
import { rawExchange } from './testing/raw-exchange.ts'

/**
 * Whatever comes in, nothing crashes, and no 5xx that is not a stated one. 5,000 inputs by default;
 * `FUZZ_INPUTS=100000 npx vitest run packages/server/src/fuzz.test.ts` for more.
 */
const INPUTS = Math.ceil(Number(process.env['FUZZ_INPUTS'] ?? 5000) / 4)
const TIMEOUT_MS = 60_000 + 40 * INPUTS
const options = { numRuns: INPUTS, endOnFailure: true }

const PATHS = [
  ...['/v1/limit', '/v1/limit/batch', '/v1/peek', '/v1/refund', '/v1/reserve', '/v1/settle', '/v1/cancel'],
  ...[
    '/v1/renew',
    '/v1/release',
    '/auth',
    '/healthz',
    '/readyz',
    '/',
    '/v1/schema',
    '/nowhere',
    '/%zz',
    '/auth?deny_status=x',
  ],
]
const path = fc.constantFrom(...PATHS)
const rules = [
  { name: 'window', key: ['user'], limit: 5, window: '1m' },
  { name: 'tokens', key: ['user'], limit: 5, window: '1m', algorithm: 'token-bucket' as const, cost: 'tokens' },
  { name: 'leases', key: ['user'], limit: 5, window: '1m', algorithm: 'concurrency' as const },
  {
    name: 'plan',
    match: { route: { prefix: '/p' } },
    limit: { dimension: 'plan', default: 3 },
    window: '1h',
    shadow: true,
  },
]

/** Values that are nearly what is asked for. */
const value = fc.oneof(
  fc.constantFrom<unknown>(
    0,
    1,
    -1,
    1.5,
    2 ** 32,
    2 ** 53,
    1e308,
    null,
    true,
    '',
    'u',
    '1',
    '\u0000',
    '{}',
    '__proto__',
    [],
    {},
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.double(),
)
const descriptor = fc.dictionary(fc.constantFrom('user', 'route', 'tokens', 'plan', '__proto__', 'x'), value, {
  maxKeys: 4,
})
const check = fc.record(
  {
    descriptor: fc.oneof({ weight: 4, arbitrary: descriptor }, value),
    cost: value,
    id: value,
    expiresIn: value,
    decision: fc.oneof(
      value,
      fc.record({ allowed: value, rules: fc.array(fc.record({ rule: value, at: value })), id: value }),
    ),
    extra: value,
  },
  { requiredKeys: [] },
)
const body = fc.oneof(
  { weight: 5, arbitrary: check.map((one) => JSON.stringify(one)) },
  { weight: 2, arbitrary: fc.array(check, { maxLength: 5 }).map((checks) => JSON.stringify({ checks })) },
  fc.json(),
  fc.string({ unit: 'binary', maxLength: 60 }),
)

describe('the service', () => {
  let service: ListeningService
  beforeAll(async () => {
    service = await listeningService({ rules, trust: '127.0.0.1', headers: { user: 'x-user' }, requestTimeoutMs: 2000 })
  })
  afterAll(() => service.close())

  test('any body', { timeout: TIMEOUT_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(path, body, fc.constantFrom('POST', 'PUT', 'DELETE'), async (target, text, method) => {
        const headers = { 'content-type': 'application/json' }
        const { status } = await fetch(`${service.url}${target}`, { method, headers, body: text })
        expect(status).toBeLessThan(500)
      }),
      options,
    )
  })

  test('any operations on counters', { timeout: TIMEOUT_MS }, async () => {
    const rule = { id: value, name: value, key: value, algorithm: value, limit: value, window: value }
    const operation = fc.record(
      {
        op: fc.oneof(fc.constantFrom('consume', 'peek', 'reserve', 'settle', 'refund', 'block', 'heartbeat'), value),
        checks: fc.oneof(value, fc.array(fc.record({ rule: value, key: value, cost: value, id: value }))),
        ...{ rule: value, key: value, cost: value, id: value, of: value, life: value, instance: value },
      },
      { requiredKeys: ['op'] },
    )
    const some = fc.record({ rules: fc.array(fc.record(rule), { maxLength: 1 }), operations: fc.array(operation) })
    await fc.assert(
      fc.asyncProperty(some, async (asked) => {
        const { status } = await service.post('/v1/store', asked)
        expect([200, 400]).toContain(status)
      }),
      options,
    )
  })

  test('any head', { timeout: TIMEOUT_MS }, async () => {
    const name = fc.constantFrom(
      ...[
        'Host',
        'X-User',
        'X-Forwarded-For',
        'X-Forwarded-Uri',
        'X-Forwarded-Method',
        'X-Original-URI',
        'Expect',
        'Cookie',
      ],
      ...['Content-Length', 'Transfer-Encoding', 'Connection', 'Upgrade', 'Content-Type', 'Accept', 'x\u0001', ''],
    )
    const content = fc.oneof(
      fc.constantFrom(
        'a',
        '1',
        '-1',
        'chunked',
        '100-continue',
        'close',
        '1.2.3.4, x',
        '/a/../b?c',
        '[::1]:1',
        '{}',
        '%',
      ),
      fc.string({ unit: 'binary-ascii', maxLength: 30 }),
    )
    const head = fc.array(fc.tuple(name, content), { maxLength: 6 })
    const method = fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'CONNECT', 'get', 'PRI', 'X')
    await fc.assert(
      fc.asyncProperty(method, path, head, async (verb, target, headers) => {
        const lines = headers.map(([key, text]) => `${key}: ${text}\r\n`).join('')
        const answer = await rawExchange(
          service.port,
          `${verb} ${target} HTTP/1.1\r\nConnection: close\r\n${lines}\r\n`,
        )
        // Where a body is announced that never comes there is an answer all the same, after a while.
        const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(answer) ?? []
        expect(Number(status ?? 0)).toBeLessThan(500)
      }),
      options,
    )
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
    expect(service.log.filter(({ level }) => level >= 50)).toEqual([])
  })
})

test('any rule file is read or refused, with a place', { timeout: TIMEOUT_MS }, () => {
  const field = fc.constantFrom(
    ...[
      'name',
      'match',
      'key',
      'limit',
      'window',
      'algorithm',
      'align',
      'timeZone',
      'overrides',
      'skip',
      'shadow',
      'cost',
    ],
    ...['required', 'unlimited', 'penalty', 'onStoreFailure', 'capacity', 'refill', '__proto__', 'description'],
  )
  const rule = fc.dictionary(
    field,
    fc.oneof(value, fc.constantFrom('1s', 'quota', 'token-bucket', 'day'), fc.array(value)),
    {
      maxKeys: 8,
    },
  )
  const file = fc.oneof(
    fc
      .record(
        {
          rules: fc.oneof(fc.array(rule, { maxLength: 3 }), value),
          store: fc.oneof(value, fc.dictionary(fc.constantFrom('deadlineMs', 'breaker', 'instances', 'x'), value)),
          forwardAuth: value,
          denyStatus: value,
        },
        { requiredKeys: ['rules'] },
      )
      .map((content) => JSON.stringify(content)),
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc
      .array(
        fc.constantFrom(
          'rules:',
          '\n',
          '  ',
          '- ',
          'name: a',
          '&a',
          '*a',
          '{',
          ']',
          '"',
          '!!x',
          '---',
          '<<:',
          ': ',
          '|',
        ),
        {
          maxLength: 20,
        },
      )
      .map((pieces) => pieces.join('')),
  )
  fc.assert(
    fc.property(file, (text) => {
      const read = parseConfig(text)
      if ('problems' in read) for (const { what } of read.problems) expect(what).not.toBe('')
      else expect(read.config.rules.length).toBeGreaterThan(0)
    }),
    options,
  )
})

test('any reply of Redis is a decision or an error of the library, and no figure that is none', {
  timeout: TIMEOUT_MS,
}, async () => {
  const number = fc.oneof(fc.integer(), fc.constantFrom(0, 1, -1, -2, -3, -4, 1_700_000_000_000))
  const reply = fc.oneof(
    fc.array(fc.oneof({ weight: 5, arbitrary: number }, value), { maxLength: 8 }),
    value,
    fc
      .constantFrom(new Error('LATE 5'), new Error('OOM x'), new Error('NOSCRIPT x'), new Error(''), 'x')
      .map((error) => error),
  )
  await fc.assert(
    fc.asyncProperty(reply, fc.boolean(), async (answer, guarded) => {
      const call = async () => {
        if (answer instanceof Error) throw answer
        return answer
      }
      const client = {
        call,
        defineCommand: () => undefined,
        options: { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 },
      }
      const store = redisStore(
        client as RedisClient,
        { guarded, instances: 1, observer: { warning: () => undefined } } as { guarded: true },
      )
      const limiter = createLimiter({ name: 'f', limit: 5, window: '1h', store })
      const outcome = await limiter.limit('k').catch((error: unknown) => error)
      await store.close()
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(TidegateError)
      else expect(outcome).toMatchObject({ allowed: expect.any(Boolean), used: expect.any(Number), limit: 5 })
    }),
    options,
  )
})
