import { memoryStore, type Store } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failingStore } from '../testing/failing-store.ts'
import { type ListeningService, listeningService } from '../testing/listening-service.ts'

const rules = [
  { name: 'per-user', key: ['user'], limit: 3, window: '1m' },
  { name: 'order', match: { route: '/order' }, key: ['tenant'], limit: 2, window: '1s' },
]

let service: ListeningService
beforeAll(async () => {
  service = await listeningService({ rules })
})
afterAll(() => service.close())

async function answer(
  path: string,
  body: unknown,
): Promise<{ status: number; headers: Headers; json: Record<string, unknown> }> {
  const response = await service.post(path, body)
  return {
    status: response.status,
    headers: response.headers,
    json: (await response.json()) as Record<string, unknown>,
  }
}

describe('POST /v1/limit', () => {
  test('allows with 200 and refuses with 429, both with the decision and the headers', async () => {
    const body = { descriptor: { user: 'u1' } }
    const first = await answer('/v1/limit', body)
    expect(first.status).toBe(200)
    expect(first.json).toMatchObject({ allowed: true, limit: 3, used: 1, remaining: 2, rule: 'per-user', reason: 'ok' })
    expect(first.json['rules']).toHaveLength(1)
    expect(first.headers.get('ratelimit-policy')).toBe('"per-user";q=3;w=60')
    expect(first.headers.get('ratelimit')).toBe('"per-user";r=2;t=60')
    expect(first.headers.get('retry-after')).toBeNull()
    expect(first.headers.get('cache-control')).toBe('no-store')
    await answer('/v1/limit', { ...body, cost: 2 })
    const refused = await answer('/v1/limit', body)
    expect(refused.status).toBe(429)
    expect(refused.json).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 60_000, reason: 'over_limit' })
    expect(refused.headers.get('retry-after')).toBe('60')
  })

  test('allows what no rule is for, without headers', async () => {
    const { status, headers, json } = await answer('/v1/limit', { descriptor: {} })
    expect([status, json['reason'], headers.get('ratelimit')]).toEqual([200, 'no_rule', null])
  })

  const faults: [name: string, body: unknown, status: number, code: string, field: string][] = [
    ['no body', '', 400, 'ERR_MALFORMED_JSON', 'body'],
    ['malformed JSON', '{"descriptor":{', 400, 'ERR_MALFORMED_JSON', 'body'],
    ['a list', [], 400, 'ERR_INVALID_BODY', 'body'],
    ['null', 'null', 400, 'ERR_INVALID_BODY', 'body'],
    ['no descriptor', {}, 400, 'ERR_INVALID_DESCRIPTOR', 'descriptor'],
    ['a descriptor that is a text', { descriptor: 'u1' }, 400, 'ERR_INVALID_DESCRIPTOR', 'descriptor'],
    ['a number as value', { descriptor: { user: 1 } }, 400, 'ERR_INVALID_KEY', 'descriptor.user'],
    ['an empty value', { descriptor: { user: '' } }, 400, 'ERR_INVALID_KEY', 'descriptor.user'],
    ['a value with braces', { descriptor: { user: 'a{b}' } }, 400, 'ERR_INVALID_KEY', 'descriptor.user'],
    ['a value with NUL', { descriptor: { user: 'a\0' } }, 400, 'ERR_INVALID_KEY', 'descriptor.user'],
    ['a value with a newline', { descriptor: { user: 'a\nb' } }, 400, 'ERR_INVALID_KEY', 'descriptor.user'],
    ['a long value', { descriptor: { user: 'a'.repeat(4097) } }, 400, 'ERR_INVALID_KEY', 'descriptor.user'],
    ['a negative cost', { descriptor: { user: 'f' }, cost: -1 }, 400, 'ERR_INVALID_COST', 'cost'],
    ['a fractional cost', { descriptor: { user: 'f' }, cost: 0.5 }, 400, 'ERR_INVALID_COST', 'cost'],
    ['a huge cost', { descriptor: { user: 'f' }, cost: 2 ** 32 }, 400, 'ERR_INVALID_COST', 'cost'],
    ['an infinite cost', '{"descriptor":{"user":"f"},"cost":1e999}', 400, 'ERR_INVALID_COST', 'cost'],
    ['a cost of null', { descriptor: { user: 'f' }, cost: null }, 400, 'ERR_INVALID_COST', 'cost'],
    ['a cost as text', { descriptor: { user: 'f' }, cost: '1' }, 400, 'ERR_INVALID_COST', 'cost'],
    ['an unknown field', { descriptor: { user: 'f' }, costs: 1 }, 400, 'ERR_INVALID_BODY', 'costs'],
    [
      '__proto__ as a field',
      '{"descriptor":{"user":"f"},"__proto__":{"cost":0}}',
      400,
      'ERR_INVALID_BODY',
      '__proto__',
    ],
    ['__proto__ with a mapping', '{"descriptor":{"__proto__":{}}}', 400, 'ERR_INVALID_KEY', 'descriptor.__proto__'],
    ['__proto__ with nothing', '{"descriptor":{"__proto__":""}}', 400, 'ERR_INVALID_KEY', 'descriptor.__proto__'],
  ]
  test.each(faults)('%s is a problem document that names the field', async (_name, body, status, code, field) => {
    const { headers, ...got } = await answer('/v1/limit', body)
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(got).toMatchObject({ status, json: { type: 'about:blank', title: 'Bad Request', status, code, field } })
    expect(got.json['expected']).toEqual(expect.any(String))
    expect(JSON.stringify(got.json)).not.toMatch(/\bat .*:\d+:\d+|node_modules/)
  })

  test('none of these faults has charged anybody', async () => {
    const { json } = await answer('/v1/peek', { descriptor: { user: 'f' }, cost: 0 })
    expect(json).toMatchObject({ used: 0, remaining: 3 })
  })

  test('__proto__ is a dimension like any other', async () => {
    const body = '{"descriptor":{"__proto__":"x","user":"p"}}'
    const { status, json } = await answer('/v1/limit', body)
    expect([status, json['rule']]).toEqual([200, 'per-user'])
    const byProto = await listeningService({ rules: [{ name: 'proto', key: ['__proto__'], limit: 1, window: '1m' }] })
    const statuses = [body, body, '{"descriptor":{"__proto__":"y"}}'].map(
      async (text) => (await byProto.post('/v1/limit', text)).status,
    )
    expect((await Promise.all(statuses)).sort()).toEqual([200, 200, 429])
    await byProto.close()
  })

  test('of a key that stands there twice the last value counts', async () => {
    await answer('/v1/limit', '{"descriptor":{"user":"d1","user":"d2"},"cost":3,"cost":2}')
    expect((await answer('/v1/peek', { descriptor: { user: 'd2' }, cost: 0 })).json['used']).toBe(2)
    expect((await answer('/v1/peek', { descriptor: { user: 'd1' }, cost: 0 })).json['used']).toBe(0)
  })
})

describe('POST /v1/peek', () => {
  test('answers 200 either way and charges nothing', async () => {
    for (let i = 0; i < 5; i++) {
      const { status, json } = await answer('/v1/peek', { descriptor: { user: 'peeked' } })
      expect([status, json['allowed'], json['remaining']]).toEqual([200, true, 2])
    }
    const refused = await answer('/v1/peek', { descriptor: { user: 'peeked' }, cost: 4 })
    expect([refused.status, refused.json['allowed'], refused.json['reason']]).toEqual([
      200,
      false,
      'cost_exceeds_limit',
    ])
  })
})

describe('POST /v1/limit/batch', () => {
  test('decides in order', async () => {
    const checks = Array.from({ length: 5 }, () => ({ descriptor: { user: 'b' } }))
    const { status, json } = await answer('/v1/limit/batch', { checks })
    const decisions = json['decisions'] as { allowed: boolean; remaining: number }[]
    expect(status).toBe(200)
    expect(decisions.map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 2],
      [true, 1],
      [true, 0],
      [false, 0],
      [false, 0],
    ])
  })

  test('a faulty check has its problem in its place, and its neighbours are decided', async () => {
    const checks = [
      { descriptor: { user: 'n' } },
      { descriptor: { user: 'n' }, cost: -1 },
      7,
      { descriptor: { user: 'n' }, x: 1 },
      { descriptor: { user: '' } },
      {},
      { descriptor: { user: 'n' } },
    ]
    const decisions = (await answer('/v1/limit/batch', { checks })).json['decisions'] as Record<
      string,
      Record<string, unknown>
    >[]
    expect(decisions.map((decision) => decision['error']?.['field'] ?? decision['used'])).toEqual([
      1,
      'checks[1].cost',
      'checks[2]',
      'checks[3].x',
      'checks[4].descriptor.user',
      'checks[5].descriptor',
      2,
    ])
    expect(decisions[1]?.['error']).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: 'checks[1].cost: expected a whole number from 0 to 4,294,967,295, received -1',
      code: 'ERR_INVALID_COST',
      field: 'checks[1].cost',
      expected: 'a whole number from 0 to 4,294,967,295',
    })
  })

  test('takes none and a thousand checks, and not one more', async () => {
    expect((await answer('/v1/limit/batch', { checks: [] })).json).toEqual({ decisions: [] })
    const thousand = Array.from({ length: 1000 }, () => ({ descriptor: {} }))
    expect((await answer('/v1/limit/batch', { checks: thousand })).json['decisions']).toHaveLength(1000)
    const { status, json } = await answer('/v1/limit/batch', { checks: [...thousand, { descriptor: {} }] })
    expect([status, json['field'], json['expected']]).toEqual([400, 'checks', 'at most 1,000 checks'])
  })

  test('__proto__ in a check is an error of that check', async () => {
    const checks = '[{"descriptor":{},"__proto__":{"cost":0}},{"descriptor":{"__proto__":1}},{"descriptor":{}}]'
    const decisions = (await answer('/v1/limit/batch', `{"checks":${checks}}`)).json['decisions'] as Record<
      string,
      Record<string, unknown>
    >[]
    expect(decisions.map(({ error, reason }) => error?.['field'] ?? reason)).toEqual([
      'checks[0].__proto__',
      'checks[1].descriptor.__proto__',
      'no_rule',
    ])
  })

  const misshapen = [{}, { checks: {} }, { checks: [], more: 1 }, '{"checks":[],"__proto__":{}}']
  test.each(misshapen)('%j is refused', async (body) => {
    expect((await answer('/v1/limit/batch', body)).json).toMatchObject({ status: 400, code: 'ERR_INVALID_BODY' })
  })

  test('asks the store for all checks in one turn', async () => {
    const turns: number[] = []
    let turn = 0
    const memory = memoryStore()
    const decide: Store['decide'] = (checks, mode) => {
      if (turns.length === 0) setImmediate(() => turn++)
      turns.push(turn)
      return new Promise((resolve) => setImmediate(resolve)).then(() => memory.decide(checks, mode))
    }
    const slow: Store = { ...failingStore(new Error('not asked')), clock: memory.clock, decide }
    const other = await listeningService({ rules, store: slow })
    const checks = Array.from({ length: 50 }, (_, i) => ({ descriptor: { user: `u${i}` } }))
    await other.post('/v1/limit/batch', { checks })
    await other.close()
    expect(turns).toEqual(Array(50).fill(0))
  })
})
