import { findPart, howToInstall, type Service, startRedis } from '@tidegate/conformance/services'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Workplace } from '../testing/program.ts'

/** Real processes. Needs `npm run build`. */
const workplace = new Workplace()
afterAll(() => workplace.close())

workplace.file(
  'rules.yaml',
  `rules:
  - { name: order, match: { route: /order }, key: [tenant, user], limit: 2, window: 1h }
  - { name: user, key: [user], limit: 10, window: 1h }
  - { name: inside, match: { ip: { cidr: 10.0.0.0/8 } }, limit: 5, window: 1h }
  - { name: device, key: [device], limit: 5, window: 1h }
store: { deadlineMs: 5000 }
`,
)
const request = '{"route":"/order","tenant":"t1","user":"u1","ip":"192.0.2.1"}'
const explain = (...args: string[]) => workplace.finished('explain', '--config', 'rules.yaml', ...args)

const PLAIN = { override: null, cost: null, shadow: false }

const TEXT = `+ order counts it: 2 in 1 h, by sliding-window
    key: tenant = t1, user = u1
+ user counts it: 10 in 1 h, by sliding-window
    key: user = u1
- inside does not count it: wanted ip in 10.0.0.0/8, found 192.0.2.1
- device does not count it: it has no device, which is in the key
`

describe('tidegate explain', () => {
  test('says which rules count a request, by which key, and why the others do not', async () => {
    expect(await explain(request)).toEqual({ code: 0, stdout: TEXT, stderr: '' })
    const none = await explain('{}')
    expect(none.stdout).toContain('- order does not count it: wanted route = /order, found no route\n')
    expect(none.stdout).toMatch(/\nNo rule counts this request: it is allowed\.\n$/)
  })

  test('exceptions, rules in shadow, costs and what is required', async () => {
    const rules = `rules:
  - { name: plan, key: [user], limit: 9, window: 1m, overrides: [{ user: vip, limit: 50 }, { user: root, unlimited: true }], skip: { route: /health } }
  - { name: tokens, key: [user], limit: 900, window: 1m, cost: tokens, required: true }
  - { name: tried, limit: 5, window: 1m, shadow: true }
`
    workplace.file('exceptions.yaml', rules)
    const explained = (request: string) => workplace.finished('explain', '--config', 'exceptions.yaml', request)
    expect(
      (await explained('{"user":"vip","tokens":"1200"}')).stdout,
    ).toBe(`+ plan counts it: 50 in 1 min, by sliding-window (overrides[0])
    key: user = vip
+ tokens counts it: 900 in 1 min, by sliding-window
    key: user = vip
    cost: 1,200, from tokens
+ tried counts it in shadow, and never refuses: 5 in 1 min, by sliding-window
    key: one for all requests
`)
    const { stdout } = await explained('{"user":"root"}')
    expect(stdout).toContain('+ plan lets it pass: unlimited (overrides[1])\n')
    expect(stdout).toContain('- tokens refuses it: it has no tokens, which gives the cost\n')
    const skipped = (await explained('{"route":"/health","user":"u"}')).stdout
    expect(skipped).toContain('- plan does not count it: it skips route = /health\n')
  })

  test('--json says the same to programs', async () => {
    const { code, stdout } = await explain('--json', request)
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        version: expect.stringMatching(/^[0-9a-f]{8}$/),
        rules: [
          { rule: 'order', applies: true, key: { tenant: 't1', user: 'u1' }, limit: 2, ...PLAIN },
          { rule: 'user', applies: true, key: { user: 'u1' }, limit: 10, ...PLAIN },
          {
            ...{
              rule: 'inside',
              applies: false,
              because: 'condition',
              dimension: 'ip',
              found: '192.0.2.1',
              refuses: false,
            },
            wanted: { kind: 'cidr', values: ['10.0.0.0/8'] },
          },
          {
            ...{ rule: 'device', applies: false, because: 'missing_dimension', dimension: 'device' },
            ...{ wanted: null, found: null, refuses: false },
          },
        ],
      },
    ])
  })

  test('--server: what a service would decide now; 2 where that is no', async () => {
    const { url } = await workplace.serving('--config', 'rules.yaml')
    const now = `${TEXT.replace('t1, user = u1\n', '$&    now: allows it, 1 of 2 used\n').replace('key: user = u1\n', '$&    now: allows it, 1 of 10 used\n')}Now: allowed, by order.\n`
    expect(await explain('--server', url, request)).toEqual({ code: 0, stdout: now, stderr: '' })
    // It has counted nothing.
    expect(await explain('--server', `${url}/`, request)).toEqual({ code: 0, stdout: now, stderr: '' })
    const { code, stdout } = await explain('--server', url, '--cost', '3', request)
    expect([code, stdout]).toEqual([
      2,
      expect.stringContaining('refuses it (cost_exceeds_limit), 0 of 2 used; admitted never by itself'),
    ])
    expect(stdout).toMatch(/\nNow: refused, by order\.\n$/)
    workplace.file('other.yaml', 'rules: [{ name: site, limit: 7, window: 1h }]')
    const other = await workplace.finished('explain', '--config', 'other.yaml', '--server', url, request)
    expect(other.stdout).toMatch(
      /The service has other rules \(version \w{8}\) than this file \(\w{8}\)\.\n {2}order: allows it, 1 of 2/,
    )
  })

  const wrong: [string[], string][] = [
    [[], `explain: expected one request as JSON, such as '{"route":"/order","user":"u1"}'`],
    [['{'], `explain: expected one request as JSON, such as '{"route":"/order","user":"u1"}'; this is no JSON`],
    [
      ['[]'],
      'descriptor: expected an object that gives dimensions their values, such as { route: "/order", user: "u1" }, received an array',
    ],
    [
      ['{"user":7}'],
      'descriptor.user: expected a string of 1 to 4096 characters without control characters or braces, received 7',
    ],

    [
      ['--cost', '4294967296', '{}'],
      'explain: --cost: expected a whole number from 0 to 4,294,967,295, received "4294967296"',
    ],
    [['--redis', 'x', '{}'], 'explain: --redis: expected a URL such as redis://user:password@host:6379/0'],
    [
      ['--server', 'localhost:80', '{}'],
      'explain: --server: expected the URL of a service, such as http://localhost:8080',
    ],
    [['--redis', 'redis://h', '--server', 'http://h', '{}'], 'explain: expected --redis or --server, not both'],
    [['--redis', 'redis://127.0.0.1:1', request], 'Redis: not connected'],
  ]
  test.each(wrong)('%j is one line on stderr and exit code 1', async (args, message) => {
    expect(await explain(...args)).toEqual({
      code: 1,
      stdout: '',
      stderr: `tidegate: ${message}\nSee tidegate --help.\n`,
    })
  })

  test('a file that is wrong is listed as validate lists it', async () => {
    workplace.file('bad.yaml', 'rules: []')
    const stderr = 'bad.yaml:1:8: rules is an empty list, expected at least one rule\n'
    expect(await workplace.finished('explain', '--config', 'bad.yaml', '{}')).toEqual({ code: 1, stdout: '', stderr })
  })
})

const part = findPart('redis-server')
describe.skipIf(part === undefined)(
  `tidegate explain --redis ${part === undefined ? howToInstall('redis-server') : ''}`,
  () => {
    let service: Service
    beforeAll(async () => {
      service = await startRedis()
    })
    afterAll(() => service.stop())

    test('the Redis keys that a service uses, and what would be decided by their counts', async () => {
      const redis = `redis://127.0.0.1:${service.port}`
      const { url } = await workplace.serving('--config', 'rules.yaml', '--redis', redis)
      const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
      for (let i = 0; i < 2; i++)
        await fetch(`${url}/v1/limit`, { ...init, body: JSON.stringify({ descriptor: JSON.parse(request) }) })
      const { code, stdout } = await explain('--redis', redis, '--json', request)
      const report = JSON.parse(stdout) as {
        rules: { redisKey?: string }[]
        decision: { allowed: boolean; rule: string }
      }
      expect([code, report.decision]).toEqual([2, expect.objectContaining({ allowed: false, rule: 'order', used: 2 })])
      const client = new Redis(service.port, '127.0.0.1')
      const keys = await client.keys('tg:{*')
      client.disconnect()
      expect(report.rules.flatMap(({ redisKey }) => redisKey ?? []).sort()).toEqual(keys.sort())
      expect(keys).toHaveLength(2)
      const text = (await explain('--redis', redis, request)).stdout
      for (const key of keys) expect(text).toContain(`    in Redis: ${key}\n`)
      expect(text).toMatch(/now: refuses it \(over_limit\), 2 of 2 used; admitted in [\d,]+ ms\n/)
    })
  },
)
