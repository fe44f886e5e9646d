import { Cluster } from 'ioredis'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashSlot } from '../../tidegate/src/stores/redis/hash-slot.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { type ClusterNode, type ClusterService, startRedisCluster } from './services/redis-cluster.ts'

const skipped = findPart('redis-server') === undefined

// The kind of fault: a block and the state behind it, a state and its reservations are two keys, and for a while on two nodes.
describe.skipIf(skipped)(
  `a key of several parts whose slot moves ${skipped ? howToInstall('redis-server') : ''}`,
  () => {
    let cluster: ClusterService
    let client: Cluster
    beforeAll(async () => {
      cluster = await startRedisCluster()
      const nodes = cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
      client = new Cluster(nodes, { redisOptions: { autoResendUnfulfilledCommands: false } })
    })
    afterAll(async () => {
      client?.disconnect()
      await cluster?.stop()
    })

    /** The node that has the slot, and one that has not. */
    async function ends(slot: number): Promise<[ClusterNode, ClusterNode]> {
      for (const node of cluster.nodes) {
        const mine = String(await node.admin.call('CLUSTER', 'NODES'))
          .split('\n')
          .find((line) => line.includes('myself'))
        // `…8 fields 0-199 201-5460`: ranges, or single slots.
        const ranges = (mine ?? '')
          .split(' ')
          .slice(8)
          .map((range) => range.split('-').map(Number))
        if (ranges.some(([from = 0, to = from]) => slot >= from && slot <= to))
          return [node, cluster.nodes.find((other) => other !== node) as ClusterNode]
      }
      throw new Error(`nobody has the slot ${slot}`)
    }

    test.each([
      ['the block first', ''],
      ['the state first', ':held'],
    ])('%s: blocked as long as it is, never open, and counted on when both have come', async (value, first) => {
      let now = 1_700_000_000_000
      const store = redisStore(client, { guarded: false, clock: () => now })
      const limiter = createLimiter({ name: 'moved', limit: 2, window: '1h', store })
      const slot = hashSlot(`{${value}}`)
      await limiter.limit(value, { cost: 2 })
      await limiter.block(value, 1000)
      const [source, target] = await ends(slot)
      const [block, state] = (await source.admin.keys(`*${value}*moved*`)).sort((a, b) => a.length - b.length)
      const [one, other] = first === '' ? [block, state] : [state, block]
      await target.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source.id)
      await source.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target.id)
      const move = (key: string) => source.admin.call('MIGRATE', '127.0.0.1', target.port, key, 0, 5000)

      await move(one as string)
      expect(await limiter.limit(value)).toMatchObject({ allowed: false, reason: 'blocked' })
      now += 1000
      // The block is over, and not all that it kept is here: an error, and not a count from nothing.
      await expect(limiter.limit(value)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
      await move(other as string)
      for (const node of cluster.nodes) await node.admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', target.id)
      expect(await limiter.limit(value)).toMatchObject({ allowed: false, reason: 'over_limit', used: 2 })
    })

    test('a reset in the middle forgets both', async () => {
      const limiter = createLimiter({
        name: 'moved',
        limit: 2,
        window: '1h',
        store: redisStore(client, { guarded: false }),
      })
      await limiter.limit('reset', { cost: 2 })
      await limiter.block('reset', 'forever')
      const slot = hashSlot('{reset}')
      const [source, target] = await ends(slot)
      await target.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source.id)
      await source.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target.id)
      const [held] = await source.admin.keys('*reset*:held')
      await source.admin.call('MIGRATE', '127.0.0.1', target.port, held as string, 0, 5000)
      await limiter.reset('reset')
      for (const node of cluster.nodes) await node.admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', source.id)
      expect(await limiter.limit('reset')).toMatchObject({ allowed: true, used: 1 })
    })

    // The kinds of fault: a reservation that is on the other node is none, so that it is charged twice or settled in vain;
    // and one is made there, in the way of the one that is to come.
    test.each([
      ['the key first', ''],
      ['its reservations first', ':reserved'],
    ])('%s: what is reserved is settled or an error that has done nothing, and nothing is lost', async (_, first) => {
      const store = redisStore(client, { guarded: false })
      const value = `reserved${first.length}`
      const limiter = createLimiter({ name: 'moved', limit: 100, window: '1h', store })
      for (const [id, cost] of Object.entries({ a: 10, b: 3 })) await limiter.reserve(value, { cost, id })
      const slot = hashSlot(`{${value}}`)
      const [source, target] = await ends(slot)
      const [state, reserved] = (await source.admin.keys(`*${value}*moved*`)).sort((a, b) => a.length - b.length)
      const [one, other] = first === '' ? [state, reserved] : [reserved, state]
      await target.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source.id)
      await source.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target.id)
      const move = (key: string) => source.admin.call('MIGRATE', '127.0.0.1', target.port, key, 0, 5000)
      const failure = { code: 'ERR_STORE_UNAVAILABLE' }

      await move(one as string)
      await expect(limiter.settle(value, 'a', { cost: 4 })).rejects.toMatchObject(failure)
      await expect(limiter.reserve(value, { cost: 3, id: 'b' })).rejects.toMatchObject(failure)
      await expect(limiter.reserve(value, { cost: 5, id: 'new' })).rejects.toMatchObject(failure)
      await move(other as string)
      // Both are there: it goes on before the slot has arrived.
      expect(await limiter.reserve(value, { cost: 3, id: 'b' })).toMatchObject({ used: 13 })
      for (const node of cluster.nodes) await node.admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', target.id)
      expect(await limiter.settle(value, 'a', { cost: 4 })).toMatchObject({ settled: true, refunded: 6 })
      expect(await limiter.peek(value, { cost: 0 })).toMatchObject({ used: 7 })
    })
  },
)
