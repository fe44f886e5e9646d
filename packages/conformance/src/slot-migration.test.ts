import { setTimeout as sleep } from 'node:timers/promises'
import { createGate, createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashSlot } from '../../tidegate/src/stores/redis/hash-slot.ts'
import { clientKinds, type OpenClient } from './clients.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { type ClusterNode, type ClusterService, startRedisCluster } from './services/redis-cluster.ts'
import { migrateSlot } from './services/slot-migration.ts'
import { waitFor } from './services/wait-for.ts'

const skipped = findPart('redis-server') === undefined

/** ioredis sends TRYAGAIN on to any node, which says MOVED; GLIDE tries again until its own time is up. */
const SAID = /TRYAGAIN|Too many Cluster redirections|timed out/

/** Values whose keys all lie in one slot, so that a batch has several keys of a slot that moves. */
function valuesOfSlot(slot: number, count: number): string[] {
  const values: string[] = []
  for (let i = 0; values.length < count; i++) if (hashSlot(`{v${i}}`) === slot) values.push(`v${i}`)
  return values
}

describe.skipIf(skipped)(`a slot that moves under load ${skipped ? howToInstall('redis-server') : ''}`, () => {
  let cluster: ClusterService
  beforeAll(async () => {
    cluster = await startRedisCluster()
  })
  afterAll(() => cluster?.stop())

  for (const [i, { name, cluster: open }] of clientKinds.entries()) {
    describe(name, () => {
      let opened: OpenClient
      beforeAll(async () => {
        opened = await open(cluster.nodes.map(({ port }) => port))
        await cluster.flush()
      })
      afterAll(() => opened?.close())

      /** All of the first node; each test moves another. */
      const [moving, divided, briefly] = [100 + i, 200 + i, 300 + i]
      const ends = () => cluster.nodes.slice(0, 2) as [ClusterNode, ClusterNode]

      test('no request fails, none is counted twice or lost, and none too many is admitted', async () => {
        const [source, target] = ends()
        const values = valuesOfSlot(moving, 6)
        const limiter = createLimiter({
          name: 'moving',
          limit: 60,
          window: '1h',
          store: redisStore(opened.client, { guarded: false }),
        })
        const admitted = new Map(values.map((value) => [value, 0]))
        const failures: unknown[] = []
        let [asked, refused] = [0, 0]
        const ask = async (value: string) => {
          asked++
          try {
            if ((await limiter.limit(value)).allowed) admitted.set(value, (admitted.get(value) ?? 0) + 1)
            else refused++
          } catch (error) {
            failures.push(error)
          }
        }
        let ended = false
        /** Batches of several keys; the last ones are first asked for on the move, and made on the target. */
        const load = async () => {
          for (let turn = 0; !ended; turn++) {
            const known = values.slice(0, turn < 5 ? 3 : 6)
            await Promise.all([...known, ...known].map(ask))
            await sleep(1)
          }
        }
        const underLoad = async () => {
          const enough = asked + 36
          await waitFor('requests', async () => asked >= enough)
        }
        const codes = ['NOSCRIPT', 'ASK', 'MOVED', 'TRYAGAIN']
        const before = await Promise.all(codes.map(cluster.errorReplies))
        const loads = Array.from({ length: 3 }, load)
        try {
          for (const way of [[source, target] as const, [target, source] as const]) {
            // Scripts unknown to the target: NOSCRIPT comes behind ASK.
            await way[1].admin.script('FLUSH')
            await migrateSlot(cluster.nodes, moving, way, underLoad)
            await underLoad()
          }
        } finally {
          ended = true
          await Promise.all(loads)
        }
        expect(failures).toEqual([])
        // What this is about has happened: GLIDE alone is never asked for several keys at a time.
        const after = await Promise.all(codes.map(cluster.errorReplies))
        const happened = after.map((count, i) => count > (before[i] as number))
        expect(happened).toEqual([true, true, true, name !== 'GLIDE'])
        expect(refused).toBeGreaterThan(0)
        for (const value of values) {
          const { used } = await limiter.peek(value, { cost: 0 })
          expect({ value, used }).toEqual({ value, used: admitted.get(value) })
          expect(used).toBeLessThanOrEqual(60)
        }
      })

      test('a request of several keys waits for them to be together, a while, and harms nobody else', async () => {
        const [source, target] = ends()
        const [value] = valuesOfSlot(divided, 1) as [string]
        const store = redisStore(opened.client, { guarded: false })
        const rules = ['first', 'second'].map((name) => ({ name, key: ['user'], limit: 100, window: '1h' }))
        const gate = createGate({ store, rules })
        const only = createLimiter({ name: 'only', limit: 100, window: '1h', store })
        await gate.limit({ user: value })
        const outcomes: unknown[] = []
        let half = 0
        await migrateSlot(cluster.nodes, divided, [source, target], async () => {
          // One key is on either node now: TRYAGAIN for the request of both, for as long as this takes.
          if (++half !== 2) return
          const started = Date.now()
          const asked = [gate.limit({ user: value }), only.limit(value), gate.limit({ user: value })]
          outcomes.push(...(await Promise.allSettled(asked)))
          expect(Date.now() - started).toBeLessThan(5000)
        })
        expect(outcomes).toMatchObject([
          {
            status: 'rejected',
            reason: { code: 'ERR_STORE_UNAVAILABLE', message: expect.stringMatching(SAID) },
          },
          { status: 'fulfilled', value: { used: 1 } },
          { status: 'rejected', reason: { code: 'ERR_STORE_UNAVAILABLE' } },
        ])
        expect(await gate.limit({ user: value })).toMatchObject({ rules: [{ used: 2 }, { used: 2 }] })
      })

      test('a request of several keys is decided once they are together', async () => {
        const [source, target] = ends()
        const [value] = valuesOfSlot(briefly, 1) as [string]
        const rules = ['first', 'second'].map((name) => ({ name, key: ['user'], limit: 100, window: '1h' }))
        const gate = createGate({ store: redisStore(opened.client, { guarded: false }), rules })
        await gate.limit({ user: value })
        let decision: Promise<unknown> | undefined
        let step = 0
        await migrateSlot(cluster.nodes, briefly, [source, target], async () => {
          if (++step !== 2) return
          decision = gate.limit({ user: value })
          await sleep(50)
        })
        expect(await decision).toMatchObject({ allowed: true, rules: [{ used: 2 }, { used: 2 }] })
      })
    })
  }
})
