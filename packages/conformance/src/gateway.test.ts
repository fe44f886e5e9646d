import { Agent, request } from 'node:http'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LoggedRequest, readAccessLog } from './access-log.ts'
import { RequestOracle } from './oracle/request-oracle.ts'
import { startNginx } from './services/nginx.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { startRedis } from './services/redis.ts'
import type { Service } from './services/service.ts'
import { startTidegate } from './services/tidegate.ts'

const LIMIT = 12
const WINDOW_MS = 400
const RULES = `
rules:
  - { name: per-address, key: [ip], limit: ${LIMIT}, window: ${WINDOW_MS}ms, match: { host: 'log.example' } }
  - { name: minute, key: [ip], limit: 1000, window: 60s, match: { host: 'minute.example' } }
# A deadline that a busy machine does not miss.
store: { deadlineMs: 5000 }
`
const CONNECTIONS = 16

interface Answer {
  readonly address: string
  readonly status: number
  readonly at: number
  readonly headers: NodeJS.Dict<string | string[]>
}

const missing = (['redis-server', 'nginx'] as const).filter((part) => findPart(part) === undefined)
describe.skipIf(missing.length > 0)(`nginx asks the service ${missing.map(howToInstall).join(', ')}`, () => {
  let redis: Service
  let tidegate: Service
  let nginx: Service
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

  beforeAll(async () => {
    redis = await startRedis()
    tidegate = await startTidegate(RULES, [
      ...['--redis', `redis://127.0.0.1:${redis.port}`],
      ...['--trust-proxy', '127.0.0.1'],
      ...['--log-level', 'warn'],
    ])
    nginx = await startNginx(tidegate.port, showTimes)
  })
  afterAll(async () => {
    agent.destroy()
    await nginx?.stop()
    await tidegate?.stop()
    await redis?.stop()
  })

  function send(logged: LoggedRequest, host: string): Promise<Answer> {
    const { address, method, target } = logged
    const headers = { 'X-Forwarded-For': address, Host: host }
    return new Promise((resolve, reject) => {
      const options = { port: nginx.port, host: '127.0.0.1', method, path: target, headers, agent }
      request(options, (response) => {
        response.resume()
        response.once('end', () => {
          const { statusCode: status = 0, headers: answered } = response
          resolve({ address, status, at: Number(answered['tidegate-at']), headers: answered })
        })
      })
        .once('error', reject)
        .end()
    })
  }

  test('a thousand requests of a real log: each admitted or refused as the oracle says for the time of its decision', async () => {
    const answers = await inParallel(readAccessLog(), (logged) => send(logged, 'log.example'))
    expect(answers).toHaveLength(1000)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))

    // In one ms the admitted were decided before the refused.
    const order = answers.toSorted((a, b) => a.at - b.at || a.status - b.status)
    const oracle = new RequestOracle()
    const rule = { name: 'r', limit: LIMIT, window: WINDOW_MS }
    const disagreeing = order.filter(({ address, at, status }) => {
      const check = { counter: address, rule }
      return oracle.decide([check], 'consume', 1, at, '')[0]?.allowed !== (status === 200)
    })
    expect(disagreeing).toEqual([])
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(50)
    for (const { headers } of refused) {
      expect(headers).toMatchObject({ 'retry-after': '1', ratelimit: expect.stringMatching(/^"per-address";r=0;t=1$/) })
    }
  })

  test('1,005 requests in a 60 s window admit exactly 1,000 through nginx, and through the API', async () => {
    const logged = { address: '192.0.2.1', method: 'GET', target: '/' }
    const answers = await inParallel(Array.from({ length: 1005 }), () => send(logged, 'minute.example'))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1000)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5)

    const body = JSON.stringify({ descriptor: { ip: '192.0.2.2', host: 'minute.example' } })
    const ask = () =>
      fetch(`http://127.0.0.1:${tidegate.port}/v1/limit`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      }).then(({ status }) => status)
    const before = await scriptCalls(redis.port)
    const statuses = await inParallel(Array.from({ length: 1005 }), ask)
    // Requests that are read together, each from its own socket, share a call.
    expect((await scriptCalls(redis.port)) - before).toBeLessThan(1005 * 0.95)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1000)
    expect(statuses.filter((status) => status === 429)).toHaveLength(5)
  })

  test('with the service gone clients get 503 and Retry-After, as the example says', async () => {
    await tidegate.stop()
    const answer = await send({ address: '192.0.2.3', method: 'GET', target: '/' }, 'minute.example')
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  })
})

/** Has nginx hand on the time of each decision, which its own clients have no use for. */
function showTimes(conf: string): string {
  return conf
    .replace('auth_request_set $limit_retry_after', 'auth_request_set $limit_at $upstream_http_tidegate_at;\n      $&')
    .replaceAll('add_header RateLimit $limit_remaining always;', '$&\n      add_header Tidegate-At $limit_at always;')
}

async function scriptCalls(port: number): Promise<number> {
  const client = new Redis(port, '127.0.0.1')
  const statistics = await client.info('commandstats')
  client.disconnect()
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(statistics)?.[1])
}

async function inParallel<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const i = next++
      results[i] = await work(items[i] as In)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  return results
}
