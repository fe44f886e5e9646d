import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { createLimiter, type LimiterOptions } from 'tidegate'
import { type RedisClient, redisStore, requiredCommands } from 'tidegate/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashSlot } from '../../tidegate/src/stores/redis/hash-slot.ts'
import { clientKinds, ioredis, type OpenClient } from './clients.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { administrate, startRedis, startValkey } from './services/redis.ts'
import { type ClusterNode, type ClusterService, startRedisCluster } from './services/redis-cluster.ts'
import type { Service } from './services/service.ts'

const GUIDE = readFileSync(join(import.meta.dirname, '../../../docs/guide/redis.md'), 'utf8')
const user = { username: 'tidegate', password: 'secret' }
const required = requiredCommands.map((command) => `+${command.toLowerCase()}`)

/** What each client needs for itself, as the guide's table has it: of one node, and of a cluster. */
const ownCommands = new Map(
  clientKinds.map(({ name }) => {
    const row = GUIDE.split('\n').find((line) => line.startsWith('|') && line.includes('+') && line.includes(name))
    const [, , single = '', cluster = ''] = row?.split(/(?<!\\)\|/) ?? []
    const commandsOf = (cell: string) => [...cell.replaceAll('\\', '').matchAll(/\+[a-z|]+/g)].map(String)
    return [name, { single: commandsOf(single), cluster: commandsOf(cluster) }]
  }),
)

/** Whatever a store may do, so that each command is needed at least once. */
async function everything(client: RedisClient): Promise<void> {
  let now = Date.now()
  const store = redisStore(client, { guarded: false, clock: () => now })
  const of = (options: Partial<LimiterOptions> & { name: string }) =>
    createLimiter({ limit: 100, window: '1h', store, ...options })
  const limiter = of({ name: 'all' })
  // Enough to take the form of a log, and to be renewed there.
  for (let i = 0; i < 40; i++) {
    now++
    await limiter.limit('k')
  }
  await createLimiter({ name: 'time', limit: 5, window: '1h', store: redisStore(client, { guarded: false }) }).limit(
    'k',
  )
  for (const algorithm of ['sliding-counter', 'fixed-window', 'token-bucket'] as const) {
    const other = of({ name: algorithm, algorithm })
    await other.limit('k', { cost: 2 })
    await other.refund('k')
  }
  const log = of({ name: 'log', algorithm: 'sliding-log', limit: 9, window: 100 })
  for (const cost of [1, 3, 2]) await log.limit('k', { cost, id: `i${cost}` })
  await log.refund('k', { cost: 2, id: 'i3' })
  for (const _ of await log.entries('k')) await log.limit('k', { cost: 4 })
  await log.refund('k', { cost: 4 })
  now += 200
  await log.limit('k')
  const slots = of({ name: 'slots', algorithm: 'concurrency', limit: 9, window: 100 })
  for (const cost of [1, 3, 2]) await slots.limit('k', { cost, id: `i${cost}` })
  await slots.limit('k', { cost: 8 })
  await slots.renew('k', 'i3')
  for (const { id } of await slots.entries('k')) await slots.release('k', id)
  for (const id of ['a', 'b']) await slots.limit('k', { id, cost: 2 })
  now += 200
  await slots.limit('k', { id: 'c' })
  const many = of({ name: 'many', algorithm: 'concurrency', limit: 2000 })
  await Promise.all(Array.from({ length: 1001 }, (_, i) => many.limit('k', { id: `i${i}` })))
  expect(await many.entries('k')).toHaveLength(1001)
  for (const id of ['r1', 'r2']) await limiter.reserve('r', { cost: 2, id, expiresIn: 100 })
  await limiter.settle('r', 'r1', { cost: 3 })
  now += 100
  await limiter.reserve('r', { cost: 2, id: 'r3' })
  await limiter.cancel('r', 'r3')
  await limiter.block('k', 1000)
  await limiter.limit('k')
  await limiter.unblock('k')
  await limiter.block('k', 1000)
  now += 1000
  await limiter.limit('k')
  await limiter.reset('k')
  await store.ping()
}

function allow(admin: Redis, commands: readonly string[]): Promise<unknown> {
  return admin.call('ACL', 'SETUSER', user.username, 'reset', 'on', `>${user.password}`, '~tg:*', ...commands)
}

test('the guide quotes the commands, and the line that allows them', () => {
  expect(GUIDE).toContain(`ACL SETUSER tidegate on >secret ~tg:* ${required.join(' ')}`)
  expect([...ownCommands.values()].every(({ cluster }) => cluster.length > 0)).toBe(true)
})

for (const [part, start] of [['redis-server', startRedis] as const, ['valkey-server', startValkey] as const]) {
  const skipped = findPart(part) === undefined
  describe.skipIf(skipped)(`a user of the ACL of ${part} ${skipped ? howToInstall(part) : ''}`, () => {
    let server: Service
    let admin: Redis
    beforeAll(async () => {
      server = await start()
      admin = administrate(server.port)
    })
    afterAll(async () => {
      admin?.disconnect()
      await server?.stop()
    })

    async function using(client: OpenClient, use: (client: RedisClient) => Promise<void>): Promise<void> {
      try {
        await use(client.client)
      } finally {
        client.close()
      }
    }

    test.each(clientKinds)('who may do what the guide says does everything through $name', async ({ name, single }) => {
      await allow(admin, [...required, ...(ownCommands.get(name)?.single ?? [])])
      await admin.flushall()
      await admin.script('FLUSH')
      await using(await single(server.port, { user }), everything)
    })

    test.each(requiredCommands)('who may not do %s is told so', async (command) => {
      const missing = `+${command.toLowerCase()}`
      await allow(admin, [...required.filter((one) => one !== missing), '+info'])
      await admin.flushall()
      await admin.script('FLUSH')
      await using(await ioredis.single(server.port, { user }), async (client) => {
        // Of what a script may not call, Redis 7.0 says only this much.
        const message = expect.stringMatching(new RegExp(`\\b${command}\\b|executing the script can't run`, 'i'))
        await expect(everything(client)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message })
      })
    })

    test('who asks for other keys is told so', async () => {
      await allow(admin, [...required, '+info'])
      await using(await ioredis.single(server.port, { user }), async (client) => {
        const store = redisStore(client, { guarded: false, prefix: 'other' })
        const limiter = createLimiter({ name: 'other', limit: 5, window: '1h', store })
        const failure = { code: 'ERR_STORE_UNAVAILABLE', message: expect.stringMatching(/NOPERM.*key/i) }
        await expect(limiter.limit('k')).rejects.toMatchObject(failure)
      })
    })
  })
}

const skipped = findPart('redis-server') === undefined

describe.skipIf(skipped)(`a user of the ACL of a cluster ${skipped ? howToInstall('redis-server') : ''}`, () => {
  let cluster: ClusterService
  beforeAll(async () => {
    cluster = await startRedisCluster()
  })
  afterAll(() => cluster?.stop())

  test.each(clientKinds)(
    'does everything through $name, and follows a slot that moves',
    async ({ name, cluster: open }) => {
      for (const { admin } of cluster.nodes) {
        await allow(admin, [...required, ...(ownCommands.get(name)?.cluster ?? [])])
        await admin.script('FLUSH')
      }
      await cluster.flush()
      const { client, close } = await open(
        cluster.nodes.map(({ port }) => port),
        user,
      )
      const slot = hashSlot('{moved}')
      const source = cluster.nodes.find((_, i) => slot < ((i + 1) * 16384) / 3) as ClusterNode
      const target = cluster.nodes.find((node) => node !== source) as ClusterNode
      const setSlot = (node: ClusterNode, ...state: string[]) => node.admin.call('CLUSTER', 'SETSLOT', slot, ...state)
      try {
        await everything(client)
        await setSlot(target, 'IMPORTING', source.id)
        await setSlot(source, 'MIGRATING', target.id)
        const limiter = createLimiter({
          name: 'moved',
          limit: 5,
          window: '1h',
          store: redisStore(client, { guarded: false }),
        })
        expect(await limiter.limit('moved')).toMatchObject({ used: 1 })
        expect(await target.admin.dbsize()).toBeGreaterThan(0)
        await target.admin.flushall()
      } finally {
        await setSlot(source, 'STABLE')
        await setSlot(target, 'STABLE')
        close()
      }
    },
  )
})
