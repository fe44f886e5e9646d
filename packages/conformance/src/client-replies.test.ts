import { Decoder, GlideClient } from '@valkey/valkey-glide'
import { Redis } from 'ioredis'
import { Redis as Valkey } from 'iovalkey'
import { createClient, createClientPool, RESP_TYPES } from 'redis'
import { createLimiter } from 'tidegate'
import { type RedisClient, redisStore } from 'tidegate/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findPart, howToInstall } from './services/parts.ts'
import { startRedis } from './services/redis.ts'
import type { Service } from './services/service.ts'

const skipped = findPart('redis-server') === undefined
const HOST = '127.0.0.1'

/** Clients told to give replies in another form than their usual one, and how to close them. */
const unusual: readonly [
  name: string,
  outcome: 'right' | 'error',
  open: (port: number) => Promise<[RedisClient, () => void]>,
][] = [
  [
    'ioredis with stringNumbers',
    'error',
    async (port) => ioredis(new Redis({ port, ...settled, stringNumbers: true })),
  ],
  [
    'iovalkey with stringNumbers',
    'error',
    async (port) => ioredis(new Valkey({ port, ...settled, stringNumbers: true })),
  ],
  ['ioredis with a keyPrefix', 'right', async (port) => ioredis(new Redis({ port, ...settled, keyPrefix: 'app:' }))],
  [
    'ioredis with auto-pipelining',
    'right',
    async (port) => ioredis(new Redis({ port, ...settled, enableAutoPipelining: true })),
  ],
  ['node-redis with numbers as strings', 'error', (port) => nodeRedis(port, { [RESP_TYPES.NUMBER]: String })],
  ['node-redis with strings as buffers', 'right', (port) => nodeRedis(port, { [RESP_TYPES.BLOB_STRING]: Buffer })],
  ['node-redis by RESP2', 'right', (port) => nodeRedis(port, {}, 2)],
  ['a pool of node-redis', 'right', nodeRedisPool],
  ['GLIDE with buffers', 'right', glideWithBuffers],
]

const settled = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 }

function ioredis(client: Redis | Valkey): [RedisClient, () => void] {
  return [client, () => client.disconnect()]
}

async function nodeRedis(port: number, typeMapping: object, RESP: 2 | 3 = 3): Promise<[RedisClient, () => void]> {
  const client = createClient({ RESP, socket: { host: HOST, port }, commandOptions: { typeMapping } })
  await client.connect()
  return [client, () => client.destroy()]
}

async function nodeRedisPool(port: number): Promise<[RedisClient, () => void]> {
  const pool = createClientPool({ socket: { host: HOST, port } })
  await pool.connect()
  return [pool as unknown as RedisClient, () => pool.destroy()]
}

async function glideWithBuffers(port: number): Promise<[RedisClient, () => void]> {
  const client = await GlideClient.createClient({ addresses: [{ host: HOST, port }], defaultDecoder: Decoder.Bytes })
  return [client, () => client.close()]
}

describe.skipIf(skipped)(`replies in another form ${skipped ? howToInstall('redis-server') : ''}`, () => {
  let server: Service
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.stop())

  test.each(unusual)('%s: %s', async (name, outcome, open) => {
    const [client, close] = await open(server.port)
    try {
      const limiter = createLimiter({
        name: 'replies',
        limit: 2,
        window: '1h',
        store: redisStore(client, { guarded: false }),
      })
      const asked = Array.from({ length: 3 }, () => limiter.limit(name))
      if (outcome === 'right') {
        expect((await Promise.all(asked)).map(({ used, allowed }) => [used, allowed])).toEqual([
          [1, true],
          [2, true],
          [2, false],
        ])
      } else {
        const failure = { code: 'ERR_CLIENT_UNSUPPORTED', message: expect.stringContaining('numbers') }
        for (const answer of asked) await expect(answer).rejects.toMatchObject(failure)
      }
      await limiter.reset(name)
    } finally {
      close()
    }
  })
})
