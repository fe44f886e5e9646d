import { describe, expect, it, test } from 'vitest'
import { TidegateError } from '../errors.ts'
import { createGate } from '../gate.ts'
import { createLimiter } from '../limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { RequestLimit } from './request-limit.ts'
import type { Outcome, RequestLimitOptions, RequestReader } from './request-options.ts'
import type { HttpWarning } from './warnings.ts'

/** The simplest request that there is. */
interface Ask {
  readonly peer?: string
  readonly ip?: string
  readonly headers?: Record<string, string>
  readonly method?: string
  readonly route?: string
}

const reader: RequestReader<Ask> = {
  peer: ({ peer }) => peer,
  ip: ({ ip }) => ip,
  header: ({ headers = {} }, name) => headers[name],
  method: ({ method = 'GET' }) => method,
  route: ({ route = '/' }) => route,
  identity: (request) => request,
}

type Options = RequestLimitOptions<Ask, { ok: boolean }>

const limitOf = (options: Options) => new RequestLimit<Ask, { ok: boolean }>(options, reader)
const MINUTE = { limit: 1, window: '1m' } as const
const ann: Ask = { peer: '192.0.2.1' }

/** What the limit says at once: a promise is a failure. */
function at(limit: RequestLimit<Ask, { ok: boolean }>, ask: Ask): Outcome {
  const outcome = limit.check(ask)
  expect(outcome).not.toBeInstanceOf(Promise)
  return outcome as Outcome
}
const statuses = (limit: RequestLimit<Ask, { ok: boolean }>, ...asks: Ask[]) =>
  asks.map((ask) => at(limit, { ...ask }).refusal?.status ?? 200)

describe('a limit of HTTP requests', () => {
  it('answers at once where nothing has to be waited for, and later where something has', async () => {
    expect(statuses(limitOf(MINUTE), ann, ann)).toEqual([200, 429])
    const later = limitOf({ ...MINUTE, keyGenerator: async () => 'ann' })
    expect((await later.check(ann)).refusal).toBeUndefined()
    expect((await later.check(ann)).refusal?.status).toBe(429)
  })

  it('counts requests of unknown clients as one', () => {
    expect(statuses(limitOf(MINUTE), {}, { peer: '' }, { peer: 'nonsense' }, ann)).toEqual([200, 429, 429, 200])
  })

  it('counts a network of IPv6 as one client, as large as it is told', () => {
    const asks = [{ peer: '2001:db8::1' }, { peer: '2001:db8::2' }, { peer: '2001:db8:0:1::1' }]
    expect(statuses(limitOf(MINUTE), ...asks)).toEqual([200, 429, 200])
    expect(statuses(limitOf({ ...MINUTE, ipv6Prefix: 48 }), ...asks)).toEqual([200, 429, 429])
    expect(statuses(limitOf({ ...MINUTE, ipv6Prefix: 128 }), ...asks)).toEqual([200, 200, 200])
  })

  it('counts by numbers as they are written, by the address without a key, and takes nothing else for one', () => {
    let key: unknown
    const limit = limitOf({ limit: 1, window: '1m', keyGenerator: () => key as string })
    const passes = (given: unknown) => {
      key = given
      return at(limit, ann).refusal === undefined
    }
    expect([5, '5', 0, '0', 5n].map(passes)).toEqual([true, false, true, false, false])
    expect([undefined, null, '', false].map(passes)).toEqual([true, false, false, false])
    for (const odd of [{}, ['a'], true, Number.NaN, Symbol('s'), () => 'a']) {
      expect(() => passes(odd), String(odd)).toThrow('keyGenerator: expected a string')
    }
  })

  it.each([
    ['keyGenerator', { keyGenerator: () => Promise.reject(new Error('mine')) }],
    ['skip', { skip: () => Promise.reject(new Error('mine')) }],
    ['cost', { cost: () => Promise.reject(new Error('mine')) }],
  ] as const)('rejects as a %s that rejects, and has charged nothing', async (_name, odd) => {
    const store = memoryStore()
    await expect(limitOf({ ...MINUTE, name: 'n', store, ...odd }).check(ann)).rejects.toThrow('mine')
    expect(at(limitOf({ ...MINUTE, name: 'n', store, warn: false }), ann).refusal).toBeUndefined()
  })

  it('takes the dimensions of several limits from the request, and more from its user', async () => {
    const limit = limitOf({
      keyGenerator: ({ headers }) => headers?.['x-user'],
      descriptor: async ({ headers }) => ({ tenant: headers?.['x-tenant'] ?? 'none' }),
      limits: [
        { name: 'host', key: ['host', 'method', 'route'], limit: 1, window: '1m' },
        { name: 'tenant', key: ['tenant'], limit: 2, window: '1m' },
        { name: 'client', limit: 3, window: '1m' },
      ],
    })
    const refusedBy = async (method: string, headers: Record<string, string>) => {
      const { refusal } = await limit.check({ ...ann, method, headers })
      return refusal?.problem['violated-policies'] ?? []
    }
    expect(await refusedBy('GET', { host: 'a', 'x-tenant': 't', 'x-user': 'u' })).toEqual([])
    // HEAD is GET without a body.
    expect(await refusedBy('HEAD', { host: 'a', 'x-tenant': 't', 'x-user': 'u' })).toEqual(['host'])
    expect(await refusedBy('POST', { host: 'a', 'x-tenant': 't', 'x-user': 'u' })).toEqual([])
    expect(await refusedBy('GET', { host: 'b', 'x-tenant': 't', 'x-user': 'u' })).toEqual(['tenant'])
    expect(await refusedBy('GET', { host: 'b', 'x-tenant': 's', 'x-user': 'u' })).toEqual([])
    expect(await refusedBy('GET', { host: 'c', 'x-tenant': 'r', 'x-user': 'u' })).toEqual(['client'])
  })

  it('names neither a rule in shadow nor one without limit, and says where a dimension is missing', () => {
    const limit = limitOf({
      standardHeaders: 'draft-6',
      limits: [
        { name: 'trial', limit: 0, window: '1m', shadow: true },
        { name: 'friends', key: ['ip'], unlimited: true },
        { name: 'client', limit: 1, window: '1m' },
        { name: 'device', key: ['device'], limit: 5, window: '1h', required: true, match: { route: '/device' } },
      ],
    })
    expect(at(limit, { ...ann }).headers).toMatchObject({ 'RateLimit-Policy': '1;w=60', 'RateLimit-Remaining': '0' })
    expect(at(limit, { ...ann }).refusal?.problem['violated-policies']).toEqual(['client'])
    const { refusal } = at(limit, { peer: '192.0.2.2', route: '/device' })
    expect(refusal?.problem).toMatchObject({ status: 429, detail: 'This request lacks what its quota is counted by.' })
    expect(refusal?.headers).not.toHaveProperty('Retry-After')
  })

  it('answers text to who asks for it, and a problem document to everybody else', () => {
    const asked = (accept?: string) => {
      const limit = limitOf({ limit: 0, window: '1m' })
      return at(limit, { ...ann, ...(accept !== undefined && { headers: { accept } }) }).refusal
    }
    expect(asked('text/plain')).toMatchObject({
      contentType: 'text/plain; charset=utf-8',
      body: 'Too many requests. This request exceeds its quota.\n',
    })
    expect(asked('text/html,application/xhtml+xml,*/*;q=0.8')?.contentType).toMatch(/^text\/plain/)
    for (const accept of [undefined, '*/*', 'application/json', 'text/plain, application/json', 'image/png']) {
      expect(asked(accept)?.contentType, accept).toBe('application/problem+json')
    }
  })

  it('announces a later time where that is asked for, the same in both places, and decides by the earlier', () => {
    let now = 1_000_000
    const store = memoryStore({ clock: () => now })
    const limit = limitOf({ ...MINUTE, name: 'j', store, jitter: '30s' })
    at(limit, { ...ann })
    const waits = Array.from({ length: 200 }, () => {
      const { headers } = at(limit, { ...ann })
      expect(headers['RateLimit']).toBe(`"j";r=0;t=${headers['Retry-After']}`)
      return Number(headers['Retry-After'])
    })
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(60)
    expect(Math.max(...waits)).toBeLessThanOrEqual(90)
    expect(new Set(waits).size).toBeGreaterThan(5)
    now += 60_000
    expect(statuses(limit, ann)).toEqual([200])
  })

  it('stands back where the rules of a store that cannot be asked have decided', () => {
    const gate = createGate({ rules: [{ name: 'r', ...MINUTE }] })
    const answerOf = (allowed: boolean) => {
      const decision = { ...gate.limitSync({}), allowed, reason: 'store_unavailable' as never }
      const standing = { ...gate, rules: gate.rules, limitSync: () => decision, limit: async () => decision }
      return at(limitOf({ gate: standing, bypassHeader: 'X-Bypass' }), { ...ann })
    }
    expect(answerOf(true)).toEqual({
      headers: { 'X-Bypass': 'store-unavailable' },
      refusal: undefined,
      charge: undefined,
    })
    expect(answerOf(false).refusal).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } })
  })

  it('hands on what is no fault of the store, whatever is said of that', () => {
    const limit = limitOf({ ...MINUTE, cost: () => -1, onStoreError: 'allow' })
    expect(() => limit.check(ann)).toThrow(/cost: expected a whole number/)
  })
})

describe('what is given back', () => {
  const ended = [
    { whole: true, status: 200 },
    { whole: true, status: 400 },
    { whole: false, status: 200 },
  ]

  /** What counts after each of the three ends. */
  async function countsWith(options: Options): Promise<number[]> {
    const store = memoryStore()
    const counted = { name: 'n', limit: 10, window: '1m' } as const
    const limit = limitOf({ ...counted, store, ...options })
    const counts: number[] = []
    for (const end of ended) {
      const request = { ...ann }
      const { charge } = at(limit, request)
      if (charge !== undefined) await limit.settle(request, { ok: end.status === 400 }, charge, end)
      counts.push(createLimiter({ ...counted, store }).peekSync('192.0.2.1', { cost: 0 }).used)
    }
    return counts
  }

  test.each([
    ['nothing', {}, [1, 2, 3]],
    ['what failed', { skipFailedRequests: true }, [1, 1, 1]],
    ['what succeeded', { skipSuccessfulRequests: true }, [0, 1, 2]],
    ['everything', { skipSuccessfulRequests: true, skipFailedRequests: true }, [0, 0, 0]],
    ['what cost more', { skipSuccessfulRequests: true, cost: 3 }, [0, 3, 6]],
    [
      'what your own word calls a success',
      { skipSuccessfulRequests: true, requestWasSuccessful: async (_: Ask, { ok }: { ok: boolean }) => ok },
      [1, 1, 2],
    ],
  ] as const)('is %s', async (_name, options, counts) => expect(await countsWith(options)).toEqual(counts))

  it('cannot harm an answer that has been sent', async () => {
    const store = memoryStore()
    const limit = limitOf({ ...MINUTE, name: 'n', store, skipFailedRequests: true })
    const { charge } = at(limit, { ...ann })
    await store.close()
    await expect(
      limit.settle(ann, { ok: false }, charge as never, { whole: false, status: 0 }),
    ).resolves.toBeUndefined()
  })
})

describe('likely mistakes', () => {
  const warningsOf = (options: Options, ...asks: Ask[]): string[] => {
    const warnings: HttpWarning[] = []
    const limit = limitOf({ ...options, warn: (warning) => warnings.push(warning) })
    for (const ask of asks) at(limit, ask)
    for (const { code, message } of warnings) expect(message).toContain(`docs/help/${code}.md`)
    return warnings.map(({ code }) => code)
  }
  const forwarded = () => ({ ...ann, headers: { 'x-forwarded-for': '198.51.100.1' } })

  it('a proxy that nobody trusts', () => {
    expect(warningsOf(MINUTE, forwarded(), forwarded())).toEqual(['TIDEGATE_PROXY_UNTRUSTED'])
    expect(warningsOf(MINUTE, ann)).toEqual([])
    expect(warningsOf({ ...MINUTE, trustProxy: false }, forwarded())).toEqual([])
    expect(warningsOf({ ...MINUTE, trustProxy: 1 }, forwarded())).toEqual([])
    // The framework was told whom to trust.
    expect(warningsOf(MINUTE, { ...forwarded(), ip: '198.51.100.1' })).toEqual([])
  })

  it('everybody trusted', () => {
    for (const trustProxy of [true, '0.0.0.0/0', ['::/0']]) {
      expect(warningsOf({ ...MINUTE, trustProxy })).toEqual(['TIDEGATE_TRUSTS_EVERYONE'])
    }
  })

  it('the same request twice, in one limit or in two that count in one place', () => {
    const request = { ...ann }
    expect(warningsOf(MINUTE, request, request, request)).toEqual(['TIDEGATE_COUNTED_TWICE'])
    expect(warningsOf(MINUTE, { ...ann }, { ...ann })).toEqual([])
    const store = memoryStore()
    const codes: string[] = []
    const warn = ({ code }: HttpWarning) => void codes.push(code)
    const [first, second, other] = ['a', 'a', 'b'].map((name) => limitOf({ ...MINUTE, name, store, warn }))
    const once = { ...ann }
    for (const limit of [first, other]) at(limit as never, once)
    expect(codes).toEqual([])
    at(second as never, once)
    expect(codes).toEqual(['TIDEGATE_COUNTED_TWICE'])
  })
})

describe('options', () => {
  test.each([
    [{ ...MINUTE, limti: 5 }, /^limti: unknown option/],
    [{ limit: -1, window: '1m' }, /^limit: expected/],
    [{ window: '1m' }, /^limit: expected/],
    [{}, /^limit: expected/],
    [{ ...MINUTE, store: memoryStore() }, /^name: expected a name/],
    [{ ...MINUTE, limits: [] }, /^(limit|window): expected none beside limits/],
    [{ limits: [], name: 'n' }, /^name: expected none beside limits/],
    [{ limits: 5 }, /^limits: expected an array/],
    [{ limits: [{ limit: 1, window: 1 }] }, /^rules\[0\]\.name: expected/],
    [{ gate: {} }, /^gate: expected a gate/],
    [{ gate: createGate({ rules: [] }), store: memoryStore() }, /^store: expected none beside gate/],
    [{ ...MINUTE, keyGenerator: 'ip' }, /^keyGenerator: expected a function/],
    [{ ...MINUTE, standardHeaders: 'draft-9' }, /^standardHeaders: expected one of draft-6, draft-7, draft-8, false/],
    [{ ...MINUTE, legacyHeaders: 'yes' }, /^legacyHeaders: expected one of/],
    [{ ...MINUTE, skipFailedRequests: 1 }, /^skipFailedRequests: expected one of true, false/],
    [{ ...MINUTE, onStoreError: 'open' }, /^onStoreError: expected one of deny, allow, error/],
    [{ ...MINUTE, bypassHeader: 'a header' }, /^bypassHeader: expected the name of a header/],
    [{ ...MINUTE, jitter: 'a bit' }, /^jitter: expected/],
    [{ ...MINUTE, ipv6Prefix: 0 }, /^ipv6Prefix: expected a whole number from 1 to 128/],
    [{ ...MINUTE, trustProxy: 'nginx' }, /^trustProxy\[0\]: expected/],
    [{ ...MINUTE, cost: 1.5 }, /^cost: expected a whole number/],
    [{ ...MINUTE, warn: true }, /^warn: expected a function/],
  ])('%j is refused', (options, message) => {
    expect(() => limitOf(options as Options)).toThrow(TidegateError)
    expect(() => limitOf(options as Options)).toThrow(message)
  })
})
