import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { describe, expect, test } from 'vitest'
import { findPart, howToInstall } from './services/parts.ts'
import { administrate, startRedis } from './services/redis.ts'

const skipped = findPart('redis-server') === undefined

describe.skipIf(skipped)(`batches ${skipped ? howToInstall('redis-server') : ''}`, () => {
  test('an observer is told of each call that decides, with its keys', async () => {
    const redis = await startRedis()
    const client = administrate(redis.port)
    const batches: number[] = []
    const store = redisStore(client, { guarded: false, observer: { batch: ({ keys }) => batches.push(keys) } })
    const limiter = createLimiter({ name: 'l', limit: 100, window: '1h', store })
    await Promise.all(Array.from({ length: 70 }, (_, i) => limiter.limit(`k${i}`)))
    expect(batches.reduce((sum, keys) => sum + keys, 0)).toBe(70)
    expect(batches.length).toBeLessThan(10)
    await limiter.peek('k')
    expect(batches.at(-1)).toBe(1)
    client.disconnect()
    await redis.stop()
  })
})
