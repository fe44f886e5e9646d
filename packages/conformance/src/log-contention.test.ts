import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'

const CONTENDER = join(import.meta.dirname, '../dist/log-contender.js')
const run = promisify(execFile)

describeRedis('many in one sliding log', (redis) => {
  // The kind of fault: admissions with equal names, of which a sorted set keeps one.
  test('two processes, 100,000 requests of one id in one millisecond: none is lost, and the list, the set and used agree', {
    timeout: 120_000,
  }, async () => {
    const [limit, each, time] = [200_000, 50_000, 1_700_000_000_000]
    const args = [CONTENDER, redis.port, limit, each, time].map(String)
    const outputs = await Promise.all([run(process.execPath, args), run(process.execPath, args)])
    const report = { admitted: each, failures: [] }
    expect(outputs.map(({ stdout }) => JSON.parse(stdout))).toEqual([report, report])

    const store = redisStore(redis.client, { guarded: false, clock: () => time })
    const limiter = createLimiter({ name: 'log', algorithm: 'sliding-log', limit, window: '1h', store })
    const [key] = await redis.client.keys('*')
    expect(await redis.client.zcount(key as string, 0, '+inf')).toBe(100_000)
    expect(await redis.client.zcard(key as string)).toBe(100_001)
    expect(await limiter.peek('one-key', { cost: 0 })).toMatchObject({ used: 100_000 })
    const entries = await limiter.entries('one-key')
    expect(entries).toHaveLength(100_000)
    expect(entries.every(({ at, id, cost }) => at === time && id === 'same' && cost === 1)).toBe(true)
  })
})
