import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callGrpc, requestOf } from './services/grpc.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { startRedis } from './services/redis.ts'
import { freePort, type Service } from './services/service.ts'
import { startTidegate } from './services/tidegate.ts'

/** A deadline that a busy machine does not miss: what Redis decides is exact, and not what is decided without it. */
const RULES = 'store: { deadlineMs: 5000 }\nrules:\n  - { name: unused, limit: 1, window: 1h }\n'
const LIMITS = `
domain: d
descriptors:
  - { key: site, rate_limit: { unit: year, requests_per_unit: 50 } }
  - { key: user, rate_limit: { unit: year, requests_per_unit: 5, algorithm: sliding-window } }
  - { key: a, rate_limit: { unit: year, requests_per_unit: 100000 } }
`
const isMissing = findPart('redis-server') === undefined

describe.skipIf(isMissing)(`two replicas over one Redis ${isMissing ? howToInstall('redis-server') : ''}`, () => {
  let redis: Service
  const replicas: Service[] = []
  const ports: number[] = []

  beforeAll(async () => {
    redis = await startRedis()
    for (let i = 0; i < 2; i++) {
      const grpc = await freePort()
      const flags = [
        '--redis',
        `redis://127.0.0.1:${redis.port}`,
        '--grpc',
        String(grpc),
        '--ratelimit-config',
        'limits.yaml',
      ]
      replicas.push(await startTidegate(RULES, flags, { 'limits.yaml': LIMITS }))
      ports.push(grpc)
    }
  })
  afterAll(async () => {
    for (const replica of replicas) await replica.stop('SIGKILL')
    await redis?.stop()
  })

  const entry = (key: string, value: string) => ({ entries: [{ key, value }] })
  const ask = async (i: number, descriptors: object[], more: object = {}) => {
    const body = JSON.stringify({ domain: 'd', descriptors, ...more })
    const answer = await fetch(`http://127.0.0.1:${replicas[i % 2]?.port}/json`, { method: 'POST', body })
    return { status: answer.status, answer: (await answer.json()) as { statuses: { limitRemaining?: number }[] } }
  }

  test('of 400 requests of 20 users exactly 50 pass, and none of a user above its 5', async () => {
    const passed = new Map<string, number>()
    const requests = Array.from({ length: 400 }, async (_, i) => {
      const user = `u${i % 20}`
      const { status } = await ask(i, [entry('site', 's'), entry('user', user)])
      if (status === 200) passed.set(user, (passed.get(user) ?? 0) + 1)
      return status
    })
    const statuses = await Promise.all(requests)
    expect(statuses.filter((status) => status === 200)).toHaveLength(50)
    expect(statuses.filter((status) => status === 429)).toHaveLength(350)
    expect(Math.max(...passed.values())).toBeLessThanOrEqual(5)
  })

  test('what a refused request would have cost elsewhere was charged by neither', async () => {
    for (let i = 0; i < 20; i++) await ask(i, [entry('user', 'greedy'), entry('site', 'other')])
    const { answer } = await ask(0, [{ ...entry('site', 'other'), hitsAddend: '0' }])
    expect(answer.statuses[0]?.limitRemaining).toBe(45)
  })

  test('a replica that is told to end answers what it is asked until then, and the other goes on', async () => {
    const [first, second] = replicas as [Service, Service]
    const ended = once(first.process, 'close')
    first.process.kill('SIGTERM')
    const calls = await Promise.all(Array.from({ length: 50 }, () => callGrpc(ports[0] as number, requestOf(1))))
    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([0]))
    expect((await ended)[0]).toBe(0)
    expect((await callGrpc(ports[1] as number, requestOf(1))).status).toBe(0)
    expect(second.process.exitCode).toBe(null)
  })
})
