import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { findPart, howToInstall } from './services/parts.ts'
import { startRedis } from './services/redis.ts'
import type { Service } from './services/service.ts'

/** A Redis that lives as long as the tests of one group. */
export interface RedisUnderTest {
  readonly port: number
  readonly client: Redis
  /** The one key that there is; more or fewer fail the test. */
  onlyKey(): Promise<string>
}

/** A group of tests on a real Redis of their own; skipped, with the package to install, where there is none. */
export function describeRedis(title: string, tests: (redis: RedisUnderTest) => void): void {
  const skipped = findPart('redis-server') === undefined
  describe.skipIf(skipped)(`${title} ${skipped ? howToInstall('redis-server') : ''}`, () => {
    let server: Service
    let client: Redis
    beforeAll(async () => {
      server = await startRedis()
      client = new Redis(server.port, '127.0.0.1', { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })
    })
    afterAll(async () => {
      client?.disconnect()
      await server?.stop()
    })
    tests({
      get port() {
        return server.port
      },
      get client() {
        return client
      },
      async onlyKey() {
        const keys = await client.keys('*')
        expect(keys).toHaveLength(1)
        return keys[0] as string
      },
    })
  })
}
