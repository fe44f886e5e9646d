import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { createGate } from '../../gate.ts'
import { createLimiter } from '../../limiter.ts'
import type { WarningEvent } from '../../observer.ts'
import { memoryStore } from '../memory/memory-store.ts'
import { type RemoteStoreOptions, remoteStore } from './remote-store.ts'
import { storeService } from './store-service.ts'
import type { WireRequest } from './wire.ts'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

type Answer = (body: WireRequest, response: ServerResponse, request: IncomingMessage) => unknown

/** A server on loopback; what it was asked, by the names of the operations. */
async function served(answer: Answer) {
  const asked: string[][] = []
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      asked.push((body as WireRequest).operations.map(({ op }) => op))
      return answer(body as WireRequest, response, request)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server }
}

/** One that counts in the memory of this test. */
function well(store = memoryStore()): Answer {
  const service = storeService(store)
  return async (body, response) => response.end(JSON.stringify(await service.answer(body)))
}

const cut: Answer = (_body, response) => response.destroy()
const problem = (status: number, code: string): Answer => {
  return (_body, response) => response.writeHead(status).end(JSON.stringify({ code, detail: 'so it is' }))
}

/** A port where nobody listens any more. */
async function refusing(): Promise<string> {
  const { url, server } = await served(cut)
  await new Promise((resolve) => server.close(resolve))
  return url
}

const bare = (...urls: string[]) => remoteStore({ urls, guarded: false, timeoutMs: 10_000 })
const limiterOver = (store: ReturnType<typeof bare>) => createLimiter({ name: 'l', limit: 100, window: '1h', store })

describe('one turn', () => {
  test('is one request, and what comes while that is under way is the next', async () => {
    const { url, asked } = await served(well())
    const limiter = limiterOver(bare(url))
    await Promise.all([...Array.from({ length: 9 }, () => limiter.limit('k')), limiter.reset('k'), limiter.peek('k')])
    expect(asked).toEqual([[...Array(9).fill('consume'), 'reset', 'peek']])
    const first = limiter.limit('k')
    await new Promise(setImmediate)
    await Promise.all([first, limiter.limit('k'), limiter.limit('k')])
    expect(asked.slice(1).map(({ length }) => length)).toEqual([1, 2])
  })

  test('is split where it is longer than a body may be', async () => {
    const { url, asked } = await served(well())
    const limiter = limiterOver(bare(url))
    await Promise.all(Array.from({ length: 300 }, (_, i) => limiter.limit(`${i}-${'x'.repeat(4000)}`)))
    expect(asked.length).toBeGreaterThan(3)
    expect(asked.flat()).toHaveLength(300)
  })

  test('is split where it speaks of more rules than a body may', async () => {
    const { url, asked } = await served(well())
    const rules = ['a', 'b', 'c'].map((name) => ({ name, limit: { dimension: 'most', default: 1 }, window: '1h' }))
    const gate = createGate({ store: bare(url), rules })
    const answers = await Promise.all(Array.from({ length: 500 }, (_, i) => gate.limit({ most: `${1000 + i}` })))
    expect(answers.every(({ allowed }) => allowed)).toBe(true)
    expect(asked.length).toBeGreaterThan(1)
  })

  test('has the rule that the service cannot read as an error of those alone that name it', async () => {
    const service = storeService(memoryStore())
    const good = { id: 'g.1', name: 'g', key: [], algorithm: 'quota', limit: 1 }
    const ask = (rule: number) => ({ op: 'consume', checks: [{ rule, key: [], cost: 1 }] })
    const [first] = (await service.answer({ rules: [good], operations: [ask(0)] })).answers
    const id = /expected "([^"]+)"/.exec(JSON.stringify(first).replaceAll('\\"', '"'))?.[1] as string
    const { answers } = await service.answer({ rules: [{ ...good, id }, good], operations: [ask(0), ask(1)] })
    expect(answers).toMatchObject([{ figures: [{ allowed: true }] }, { error: { field: 'rules[1].id' } }])
  })

  test('more than may wait is refused at once', async () => {
    const { url } = await served(well())
    const store = remoteStore({ urls: [url], guarded: false, maxPending: 2, timeoutMs: 10_000 })
    const limiter = limiterOver(store)
    const answers = await Promise.allSettled([1, 2, 3].map(() => limiter.limit('k')))
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(answers[2]).toMatchObject({ reason: { code: 'ERR_STORE_OVERLOADED' } })
  })
})

describe('the next replica', () => {
  test('is asked the same where nobody listens at the first', async () => {
    const { url, asked } = await served(well())
    const limiter = limiterOver(bare(await refusing(), url))
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, used: 1, source: 'store' })
    expect(await limiter.limit('k')).toMatchObject({ used: 2 })
    expect(asked).toEqual([['consume'], ['consume']])
  })

  test.each([
    [503, 'ERR_DRAINING'],
    [503, 'ERR_OVERLOADED'],
    [401, 'ERR_UNAUTHORIZED'],
    [404, 'ERR_NOT_FOUND'],
  ])('is asked where the first says %i %s', async (status, code) => {
    const refusingOne = await served(problem(status, code))
    const { url } = await served(well())
    const limiter = limiterOver(bare(refusingOne.url, url))
    expect(await limiter.limit('k')).toMatchObject({ used: 1 })
  })

  test('is not asked again what may have been done; what charges nothing twice is', async () => {
    const first = await served(cut)
    const { url, asked } = await served(well())
    const limiter = limiterOver(bare(first.url, url))
    const answers = await Promise.allSettled([
      limiter.limit('k'),
      limiter.peek('k'),
      limiter.reserve('k', { cost: 2, id: 'r' }),
      limiter.settle('k', 'r', { cost: 1 }),
      limiter.refund('k'),
      limiter.block('other', '1m'),
      limiter.unblock('other'),
      limiter.reset('k'),
    ])
    expect(answers.map((one) => (one.status === 'fulfilled' ? 'done' : one.reason.code))).toEqual([
      'ERR_STORE_UNAVAILABLE',
      'done',
      'done',
      'ERR_STORE_UNAVAILABLE',
      'ERR_STORE_UNAVAILABLE',
      'done',
      'done',
      'ERR_STORE_UNAVAILABLE',
    ])
    expect(asked).toEqual([['peek', 'reserve', 'block', 'unblock']])
    expect(await limiter.limit('k')).toMatchObject({ used: 3 })
  })

  test.each([
    ['cuts the connection', cut],
    ['answers for a gateway', problem(502, '')],
    ['answers something else', ((_body, response) => response.end('<html>')) as Answer],
  ])('a single one that %s: the request is not sent twice', async (_name, answer) => {
    const { url, asked } = await served(answer)
    await expect(limiterOver(bare(url)).limit('k')).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(asked).toEqual([['consume']])
  })

  test('one that is silent is left when its time is up', async () => {
    const silent = await served(() => undefined)
    const { url } = await served(well())
    const store = remoteStore({ urls: [silent.url, url], guarded: false, timeoutMs: 50 })
    const limiter = limiterOver(store)
    await expect(limiter.limit('k')).rejects.toThrow('no answer within 50 ms')
    expect(await limiter.limit('k')).toMatchObject({ used: 1 })
  })

  test('the first is asked again when it has answered a probe', async () => {
    const store = memoryStore()
    let isThere = false
    const first = await served((...args) => (isThere ? well(store)(...args) : cut(...args)))
    const { url } = await served(well(store))
    const limiter = limiterOver(bare(first.url, url))
    await limiter.limit('k').catch(() => undefined)
    isThere = true
    while (first.asked.at(-1)?.[0] !== 'consume' || first.asked.length < 3) await limiter.limit('k')
    expect(first.asked.slice(0, 2)).toEqual([['consume'], ['ping']])
  })
})

describe('guarded', () => {
  const guarded = (options: RemoteStoreOptions) => remoteStore({ deadlineMs: 5_000, instances: 1, ...options })

  test('a service that is gone is worked without, and each decision says so', async () => {
    const limiter = limiterOver(guarded({ urls: [await refusing()] }))
    expect(await limiter.limit('k')).toMatchObject({ allowed: true, used: 1, source: 'local' })
  })

  test('a replica that is lost among others does not open the breaker', async () => {
    const first = await served(cut)
    const { url } = await served(well())
    const store = guarded({ urls: [first.url, url] })
    const limiter = limiterOver(store)
    const decisions = await Promise.all(Array.from({ length: 20 }, () => limiter.limit('k')))
    expect(decisions.every(({ source, allowed }) => source === 'local' && allowed)).toBe(true)
    expect(store.guardState()).toMatchObject({ breaker: 'closed', fallbacks: { error: 20 } })
    expect(await limiter.limit('k')).toMatchObject({ used: 1, source: 'store' })
  })

  test('a token that is not taken is a warning', async () => {
    const warnings: WarningEvent[] = []
    const { url } = await served(problem(401, 'ERR_UNAUTHORIZED'))
    const observer = { warning: (event: WarningEvent) => warnings.push(event) }
    await limiterOver(guarded({ urls: [url], token: 'secret-0123456789', observer })).limit('k')
    expect(warnings.map(({ code }) => code)).toEqual(['TIDEGATE_STORE_REFUSES'])
    expect(JSON.stringify(warnings)).not.toContain('secret')
  })

  test('clients are counted by their heartbeats', async () => {
    const { url } = await served(well())
    const stores = [1, 2, 3].map(() => remoteStore({ urls: [url], deadlineMs: 5_000 }))
    for (const store of stores) await limiterOver(store).limit('k')
    const [last] = stores.slice(-1) as [(typeof stores)[0]]
    while (last.guardState().instances !== 3) await new Promise(setImmediate)
    for (const store of stores) await store.close()
  })
})

describe('what a service is asked', () => {
  const service = storeService(memoryStore())
  test.each([
    ['no object', 1, 'body: expected an object'],
    ['a field too many', { operations: [], more: 1 }, 'body.more: unknown option'],
    [
      'too many operations',
      { operations: Array(1001).fill({ op: 'ping' }) },
      'operations: expected an array of at most 1,000',
    ],
  ])('%s is refused as a whole', async (_name, body, message) => {
    await expect(service.answer(body)).rejects.toThrow(message)
  })

  test('what is wrong with one operation is told in its place', async () => {
    const operations = [{ op: 'ping' }, { op: 'drop' }, { op: 'reset', rule: 0, key: 'k' }, { op: 'peek', checks: 5 }]
    const { answers } = await service.answer({ operations })
    expect(answers).toMatchObject([
      { result: null },
      { error: { code: 'ERR_INVALID_OPTION', field: 'operations[1].op' } },
      { error: { field: 'operations[2].rule' } },
      { error: { field: 'operations[3].checks' } },
    ])
  })
})

describe('options', () => {
  test.each([
    [{ urls: [] }, 'urls: expected a list of 1 to 16 URLs'],
    [{ urls: ['ftp://x'] }, 'urls[0]: expected an http or https URL'],
    [{ urls: ['http://user:secret@x'] }, 'received "another http: URL"'],
    [{ urls: ['http://x'], token: 'has space' }, 'token: expected letters'],
    [{ urls: ['http://x'], maxBatch: 1001 }, 'maxBatch: expected a whole number from 1 to 1,000'],
    [{ urls: ['http://x'], retries: 3 }, 'retries: unknown option'],
  ])('%j are refused', (options, message) => {
    expect(() => remoteStore(options as never)).toThrow(message)
  })
})
