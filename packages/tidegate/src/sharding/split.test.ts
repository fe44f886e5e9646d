import { describe, expect, test } from 'vitest'
import { compileRule } from '../rule.ts'
import { hashSlot } from '../stores/redis/hash-slot.ts'
import { redisKey } from '../stores/redis/redis-key.ts'
import { shardKey, shardOfId, shardRule } from './routes.ts'
import { partOf } from './split.ts'

const rule = (fields: object) => compileRule({ name: 'a', key: ['user'], limit: 10, window: '1s', ...fields }, 'rule')
const errorOf = (fields: object) => {
  try {
    rule(fields)
  } catch (error) {
    return String((error as Error).message)
  }
  return 'no error'
}

describe('a split limit', () => {
  test('no unit is lost, and no shard has two more than another', () => {
    expect([0, 1, 2].map((shard) => partOf(10, 3, shard))).toEqual([4, 3, 3])
    for (let whole = 0; whole < 60; whole++) {
      for (let shards = 1; shards < 20; shards++) {
        const parts = Array.from({ length: shards }, (_, shard) => partOf(whole, shards, shard))
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(whole)
        expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1)
      }
    }
  })

  test('of a token bucket capacity and refill are split, and what is split sums to the rate', () => {
    const bucket = rule({ algorithm: 'token-bucket', limit: 10, capacity: 7, refill: 11, window: 1000, shards: 3 })
    const shards = [0, 1, 2].map((shard) => shardRule(bucket, shard))
    expect(shards.map(({ limit }) => limit)).toEqual([3, 2, 2])
    const perWindow = shards.map(({ refillUnits, tokenUnits }) => (refillUnits * 1000) / tokenUnits)
    expect(perWindow).toEqual([4, 4, 3])
    expect(shardRule(bucket, 1)).toBe(shards[1])
  })

  test('fewer units than shards is refused where the rule is loaded', () => {
    expect(errorOf({ limit: 2, shards: 3 })).toBe(
      'rule.limit: expected a limit of at least one for each of its 3 shards, received 2',
    )
    expect(errorOf({ limit: 0, shards: 2 })).toContain('at least one for each of its 2 shards')
    expect(errorOf({ algorithm: 'token-bucket', capacity: 9, refill: 2, shards: 3 })).toContain(
      'a capacity and a refill of at least one for each of its 3 shards',
    )
    expect(errorOf({ algorithm: 'fixed-window', shards: 3, overrides: [{ user: 'a', limit: 2 }] })).toContain(
      'rule.overrides[0].limit: expected a limit of at least one',
    )
    expect(errorOf({ shards: 3, overrides: [{ user: 'a', limit: 2 }] })).toContain('rule.overrides[0].limit')
    expect(errorOf({ shards: 3, overrides: [{ user: 'a', shards: 2, limit: 5 }] })).toContain('the shards of the rule')
    expect(errorOf({ shards: 3, limit: { dimension: 'plan', default: 2 } })).toContain('at least one for each')
    expect(errorOf({ shards: 3, limit: () => 5 })).toBe('no error')
    for (const shards of [0, 101, 1.5, '2', null]) expect(errorOf({ shards })).toContain('rule.shards')
  })

  test('another number of shards is another count; one shard is none', () => {
    expect(rule({ shards: 1 }).id).toBe(rule({}).id)
    expect(rule({ shards: 2 }).id).not.toBe(rule({}).id)
    expect(rule({ shards: 2 }).id).not.toBe(rule({ shards: 3 }).id)
  })

  test('a shard is the same for an id everywhere, and ids are spread evenly', () => {
    expect(['a', 'request-7', 'ü', '7f0c1e0e-0d63-4b1c-8e7a-111111111111'].map((id) => shardOfId(id, 10))).toEqual(
      KNOWN_SHARDS,
    )
    for (const shards of [2, 3, 7, 16, 100]) {
      const counts = new Array<number>(shards).fill(0)
      for (let i = 0; i < 100_000; i++) (counts[shardOfId(`request-${i}`, shards)] as number)++
      for (const count of counts)
        expect(Math.abs(count - 100_000 / shards)).toBeLessThan(6 * Math.sqrt(100_000 / shards))
    }
  })

  test('each of a hundred shards of a key has its own slot of a cluster, and three nodes have a third of them', () => {
    const split = rule({ limit: 1000, shards: 100 })
    const slotted = { ...rule({ key: ['tenant', 'user'], limit: 1000, shards: 100 }), slot: 0 }
    for (const user of ['u', 'all', 'tenant-1001', 'ünïcode', 'a,b']) {
      for (const [one, key] of [
        [split, user],
        [slotted, [user, 'x']],
      ] as const) {
        const slots = Array.from({ length: 100 }, (_, i) => hashSlot(redisKey(one, shardKey(key, i))))
        expect(new Set(slots).size).toBe(100)
        const nodes = [0, 0, 0]
        for (const slot of slots) (nodes[Math.floor((slot * 3) / 16_384)] as number)++
        expect(Math.min(...nodes)).toBeGreaterThan(20)
      }
    }
  })

  test('the key of a shard is no key of another rule or value', () => {
    const split = rule({ limit: 1000, shards: 3 })
    expect(redisKey(split, shardKey('u', 2))).toBe(`tg:{u,02}:${split.id}`)
    expect(redisKey(split, 'u,02')).not.toBe(redisKey(split, shardKey('u', 2)))
  })
})

/** What was found once: other processes and other versions must find the same. */
const KNOWN_SHARDS = [5, 7, 9, 2]
