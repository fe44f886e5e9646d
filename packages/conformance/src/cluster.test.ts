import { createGate, createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
// Not exported: users have no need of it, and a real server is what it has to agree with.
import { hashSlot } from '../../tidegate/src/stores/redis/hash-slot.ts'
import { clientKinds, glide, iovalkey, type OpenClient } from './clients.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { type ClusterService, startRedisCluster } from './services/redis-cluster.ts'

for (const [part, kinds] of [['redis-server', clientKinds] as const, ['valkey-server', [iovalkey, glide]] as const]) {
  const skipped = findPart(part) === undefined
  describe.skipIf(skipped)(`a cluster of ${part} ${skipped ? howToInstall(part) : ''}`, () => {
    let cluster: ClusterService
    beforeAll(async () => {
      cluster = await startRedisCluster(part)
    })
    afterAll(() => cluster?.stop())

    test('the slot of a key is the one that the server says', async () => {
      const values = ['', 'a', 'user-1', 'ü', '😀', '%{}', 'tenant,1', 'x'.repeat(300)]
      const keys = values.flatMap((value, i) => [
        value,
        `tg:{${value}}:rule`,
        `{${value}`,
        `a}${value}{b}{c}`,
        `{}${i}`,
      ])
      for (let i = 0; i < 1000; i++) keys.push(`tg:{${(i * 2654435761) % 2 ** 32}}:api.f26c6605`)
      const { admin } = cluster.nodes[0] as ClusterService['nodes'][0]
      const slots = await Promise.all(keys.map((key) => admin.call('CLUSTER', 'KEYSLOT', key)))
      expect(keys.map(hashSlot)).toEqual(slots)
    })

    for (const { name, cluster: open } of kinds) {
      describe(name, () => {
        let opened: OpenClient
        beforeAll(async () => {
          opened = await open(cluster.nodes.map(({ port }) => port))
          await cluster.flush()
        })
        afterAll(() => opened?.close())

        test('keys of all slots in one turn go to their nodes, without a redirection', async () => {
          const limiter = createLimiter({
            name: 'all',
            limit: 3,
            window: '1h',
            store: redisStore(opened.client, { guarded: false }),
          })
          const keys = Array.from({ length: 300 }, (_, i) => `k${i}`)
          await Promise.all(keys.map((key) => limiter.limit(key)))
          const before = await cluster.errorReplies('MOVED')
          const decisions = await Promise.all([...keys, ...keys, ...keys].map((key) => limiter.limit(key)))
          expect(await cluster.errorReplies('MOVED')).toBe(before)
          for (const [i, { used, allowed }] of decisions.entries()) {
            expect({ used, allowed }).toEqual({ used: i < 300 ? 2 : 3, allowed: i < 600 })
          }
          const sizes = await Promise.all(cluster.nodes.map(({ admin }) => admin.dbsize()))
          expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(300)
          expect(Math.min(...sizes)).toBeGreaterThan(50)
        })

        test('a script that some nodes have lost is loaded there again', async () => {
          const limiter = createLimiter({
            name: 'lost',
            limit: 3,
            window: '1h',
            store: redisStore(opened.client, { guarded: false }),
          })
          for (const { admin } of cluster.nodes) await admin.script('FLUSH')
          const keys = Array.from({ length: 50 }, (_, i) => `k${i}`)
          const decisions = await Promise.all(keys.map((key) => limiter.limit(key)))
          expect(decisions.every(({ used }) => used === 1)).toBe(true)
        })

        test('reset forgets its key alone; ping asks', async () => {
          const store = redisStore(opened.client, { guarded: false })
          const limiter = createLimiter({ name: 'reset', limit: 3, window: '1h', store })
          for (const key of ['a', 'b', 'c']) await limiter.limit(key)
          await limiter.reset('b')
          const used = await Promise.all(
            ['a', 'b', 'c'].map(async (key) => (await limiter.peek(key, { cost: 0 })).used),
          )
          expect(used).toEqual([1, 0, 1])
          await store.ping()
          expect(store.cluster).toBe(true)
        })

        test('rules that count by the same dimensions are decided in one step; others are compensated; each decision says which', async () => {
          const store = redisStore(opened.client, { guarded: false })
          const second = { name: 'second', key: ['user'], limit: 1, window: '1s' }
          const hour = { name: 'hour', key: ['user'], limit: 5, window: '1h' }
          const route = { name: 'route', key: ['route'], limit: 1, window: '1h' }
          const together = createGate({ store, rules: [second, hour], atomicity: 'strict' })
          const descriptor = { user: 'u', route: '/a' }
          expect(await together.limit(descriptor)).toMatchObject({
            atomicity: 'strict',
            rules: [{ used: 1 }, { used: 1 }],
          })
          expect(await together.limit(descriptor)).toMatchObject({ allowed: false, rules: [{ used: 1 }, { used: 1 }] })
          const apart = createGate({ store, rules: [hour, route] })
          expect(await apart.limit(descriptor)).toMatchObject({
            atomicity: 'compensated',
            rules: [{ used: 2 }, { used: 1 }],
          })
          expect(await apart.limit(descriptor)).toMatchObject({ allowed: false, rules: [{ used: 2 }, { used: 1 }] })
          expect(await together.peek(descriptor, { cost: 0 })).toMatchObject({ rules: [{ used: 1 }, { used: 2 }] })
          expect(() => createGate({ store, rules: [hour, route], atomicity: 'strict' })).toThrow(
            /one slot of the cluster/,
          )
        })

        // The kind of fault: what a request gives back after a refusal is somebody else's.
        test('two requests with the id of one lease: the one that is refused does not end the lease of the other', async () => {
          const store = redisStore(opened.client, { guarded: false })
          for (let round = 0; round < 10; round++) {
            const gate = createGate({
              store,
              rules: [
                { name: `slots${round}`, key: ['user'], algorithm: 'concurrency', limit: 1, window: '1m' },
                { name: `stock${round}`, key: ['item'], algorithm: 'quota', limit: 1 },
              ],
            })
            const descriptor = { user: 'u', item: `i${round}` }
            const both = await Promise.all([
              gate.limit(descriptor, { id: 'job' }),
              gate.limit(descriptor, { id: 'job' }),
            ])
            expect(both.filter(({ allowed }) => allowed)).toHaveLength(1)
            expect(both[0]?.atomicity).toBe('compensated')
            expect(await gate.entries(descriptor, { rule: `slots${round}` })).toHaveLength(1)
          }
        })

        test('a reservation over two slots is compensated and settled in each; a refused one leaves neither charge nor trace', async () => {
          await cluster.flush()
          const store = redisStore(opened.client, { guarded: false })
          const rules = [
            { name: 'tokens', key: ['user'], limit: 10, window: '1h' },
            { name: 'route', key: ['route'], limit: 12, window: '1h' },
          ]
          const gate = createGate({ store, rules })
          const [u, v] = [
            { user: 'u', route: '/a' },
            { user: 'v', route: '/a' },
          ]
          expect(await gate.reserve(u, { cost: 8, id: 'a' })).toMatchObject({
            atomicity: 'compensated',
            rules: [{ used: 8 }, { used: 8 }],
          })
          expect(await gate.reserve(u, { cost: 8, id: 'a' })).toMatchObject({
            allowed: true,
            rules: [{ used: 8 }, { used: 8 }],
          })
          // Together they fit into their own keys, and not into that of the route: one of two must give back.
          const racing = await Promise.all(
            ['v', 'w'].map((user) => gate.reserve({ user, route: '/a' }, { cost: 3, id: user })),
          )
          expect(racing.filter(({ allowed }) => allowed)).toHaveLength(1)
          const charged = racing.map(({ allowed }) => (allowed ? 3 : 0))
          for (const [i, user] of ['v', 'w'].entries()) {
            expect(await gate.peek({ user, route: '/a' }, { cost: 0 })).toMatchObject({
              rules: [{ used: charged[i] }, { used: 11 }],
            })
          }
          await Promise.all(['v', 'w'].map((user) => gate.cancel({ user, route: '/a' }, user)))
          expect(await gate.settle(u, 'a', { cost: 13 })).toMatchObject({ rules: [{ charged: 5 }, { charged: 5 }] })
          expect(await gate.peek(u, { cost: 0 })).toMatchObject({ rules: [{ used: 13 }, { used: 13 }] })
          expect(await gate.peek(v, { cost: 0 })).toMatchObject({ rules: [{ used: 0 }, { used: 13 }] })
          const left = await Promise.all(cluster.nodes.map(({ admin }) => admin.keys('*:reserved')))
          expect(left.flat()).toEqual([])
        })

        // The kind of fault: what a bucket has refilled since makes up for the charge first, and a part of it stays.
        test('of two reservations that race for the last place the refused one leaves nothing in its bucket', async () => {
          await cluster.flush()
          let now = 1_000_000
          // Each question comes some ms after the one before, so that a bucket refills between charge and give-back.
          const store = redisStore(opened.client, { guarded: false, clock: () => (now += 5) })
          const bucket = {
            name: 'bucket',
            key: ['user'],
            algorithm: 'token-bucket',
            limit: 1000,
            window: '1s',
          } as const
          const gate = createGate({
            store,
            rules: [bucket, { name: 'stock', key: ['item'], algorithm: 'quota', limit: 150 }],
          })
          const alone = createGate({ store, rules: [bucket] })
          let refused = 0
          for (let round = 0; round < 20; round++) {
            const users = ['a', 'b'].map((name) => `${name}${round}`)
            const before = await Promise.all(users.map((user) => alone.limit({ user }, { cost: 800 })))
            const both = await Promise.all(
              users.map((user) =>
                gate.reserve({ user, item: `i${round}` }, { cost: 100, expiresIn: round % 2 === 0 ? 1 : '1h' }),
              ),
            )
            for (const [i, user] of users.entries()) {
              if (both[i]?.allowed) continue
              refused++
              const { used, at } = await alone.peek({ user }, { cost: 0 })
              expect(used).toBe(800 - (at - (before[i]?.at as number)))
            }
          }
          expect(refused).toBe(20)
        })

        test('a slot dimension brings the rules of one tenant into one step', async () => {
          const store = redisStore(opened.client, { guarded: false })
          const rules = [
            { name: 'tenant', key: ['tenant'], limit: 3, window: '1h' },
            { name: 'user', key: ['user', 'tenant'], limit: 1, window: '1h' },
          ]
          const gate = createGate({ store, rules, slot: 'tenant', atomicity: 'strict' })
          expect(await gate.limit({ tenant: 't', user: 'a' })).toMatchObject({ allowed: true, atomicity: 'strict' })
          expect(await gate.limit({ tenant: 't', user: 'a' })).toMatchObject({
            allowed: false,
            rules: [{ used: 1 }, { used: 1 }],
          })
          expect(await gate.limit({ tenant: 't', user: 'b' })).toMatchObject({ rules: [{ used: 2 }, { used: 1 }] })
          expect(await gate.limit({ tenant: 'v', user: 'a' })).toMatchObject({ rules: [{ used: 1 }, { used: 1 }] })
        })
      })
    }
  })
}
