import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'
import { mostInAnyWindow } from './windows.ts'

const CONTENDER = join(import.meta.dirname, '../dist/contender.js')
const run = promisify(execFile)

interface Report {
  readonly admitted: number[]
  readonly refused: number
  readonly failures: string[]
}

describeRedis('many at one key', (redis) => {
  async function contend(limit: number, windowMs: number, durationMs: number): Promise<Report[]> {
    await redis.client.flushall()
    const args = [CONTENDER, redis.port, limit, windowMs, durationMs].map(String)
    const outputs = await Promise.all(
      Array.from({ length: 8 }, () => run(process.execPath, args, { maxBuffer: 2 ** 28 })),
    )
    return outputs.map(({ stdout }) => JSON.parse(stdout) as Report)
  }

  test('8 processes for 10 s: in every window of the recorded times at most the limit, and nothing wasted', {
    timeout: 60_000,
  }, async () => {
    const [limit, windowMs] = [200, 1000]
    const reports = await contend(limit, windowMs, 10_000)
    expect(reports.flatMap(({ failures }) => failures)).toEqual([])
    const admitted = reports.flatMap((report) => report.admitted).sort((a, b) => a - b)
    expect(mostInAnyWindow(admitted, windowMs)).toBe(limit)
    // Demand never ceases, so whatever ends is taken at once: ten windows are used whole.
    expect(admitted.length).toBeGreaterThanOrEqual(limit * 9)
    expect(reports.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(0)
    expect(reports.filter((report) => report.admitted.length > 0).length).toBeGreaterThan(1)
  })

  test('SCRIPT FLUSH under load: no request fails and none too many is admitted', { timeout: 60_000 }, async () => {
    const [limit, windowMs] = [500, 1000]
    const flushing = setInterval(() => void redis.client.script('FLUSH'), 5)
    try {
      const reports = await contend(limit, windowMs, 3000)
      expect(reports.flatMap(({ failures }) => failures)).toEqual([])
      const admitted = reports.flatMap((report) => report.admitted).sort((a, b) => a - b)
      expect(mostInAnyWindow(admitted, windowMs)).toBe(limit)
    } finally {
      clearInterval(flushing)
    }
    const info = await redis.client.info('commandstats')
    expect(Number(/cmdstat_script\|flush:calls=(\d+)/.exec(info)?.[1])).toBeGreaterThan(50)
    expect(Number(/cmdstat_eval:calls=(\d+)/.exec(info)?.[1])).toBeGreaterThan(50)
  })

  test('1,005 requests in a 60 s window admit exactly 1,000', async () => {
    const limiter = createLimiter({
      name: 'minute',
      limit: 1000,
      window: '60s',
      store: redisStore(redis.client, { guarded: false }),
    })
    const decisions = await Promise.all(Array.from({ length: 1005 }, () => limiter.limit('user')))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(1000)
    expect(decisions.slice(0, 1000).map(({ remaining }) => remaining)).toEqual(
      Array.from({ length: 1000 }, (_, i) => 999 - i),
    )
  })
})

test('1,005 requests in a 60 s window admit exactly 1,000 in memory', () => {
  const limiter = createLimiter({ limit: 1000, window: '60s' })
  const decisions = Array.from({ length: 1005 }, () => limiter.limitSync('user'))
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(1000)
})
