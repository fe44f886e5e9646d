import type { Redis } from 'ioredis'
import { RedisRateLimiter } from 'rolling-rate-limiter'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import type { Outcome, Reference } from './findings.ts'
import type { RedisServer } from './redis-server.ts'

const USER = 'user-000001'
const ADMISSIONS = 10
const HOUR_MS = 3_600_000
const START_MS = 1_780_000_000_000
/** Admissions stand this far apart: all of them within one hour. */
const STEP_MS = 350_123

/** What Redis keeps of one key with ten admissions spread over an hour. */
export async function measureFootprint(server: RedisServer): Promise<Outcome> {
  const client = await server.client(6)
  const ours = await plantTidegate(client, ADMISSIONS, 10)
  const zset = await plantZset(client, ours.key)
  const rolling = await plantRolling(client)
  const large = await plantTidegate(client, 1000, 1000)
  client.disconnect()
  const bytes = (what: string, value: number): Reference => ({ what, measured: exactly(value), unit: 'B' })
  return {
    findings: [{ target: 'footprint', measured: exactly(ours.bytes / zset) }],
    references: [
      bytes(`Redis key with 10 admissions: tidegate (\`${ours.key}\`)`, ours.bytes),
      bytes('the same: ZSET of `timestamp:id`, a 6-character id, under a key of the same length', zset),
      bytes(`the same: rolling-rate-limiter (\`${rolling.key}\`, a UUID for each request)`, rolling.bytes),
      bytes('Redis key with 1,000 admissions: tidegate', large.bytes),
    ],
  }
}

interface Planted {
  readonly key: string
  readonly bytes: number
}

/** Through the library, on a clock that runs ahead by itself. */
async function plantTidegate(client: Redis, admissions: number, limit: number): Promise<Planted> {
  await client.flushdb()
  let now = START_MS
  const limiter = createLimiter({
    limit,
    window: '1h',
    name: 'bench',
    store: redisStore(client, { guarded: false, clock: () => now }),
  })
  for (let i = 0; i < admissions; i++) {
    const { allowed } = await limiter.limit(USER)
    if (!allowed) throw new Error('an admission within the limit was refused')
    now += Math.floor((STEP_MS * ADMISSIONS) / admissions)
  }
  return measureOnly(client)
}

/** An auditable log as many keep it: score and member both say when, the member also which request. */
async function plantZset(client: Redis, name: string): Promise<number> {
  await client.flushdb()
  const key = name.replaceAll(/[^:]/g, 'z')
  for (let i = 0; i < ADMISSIONS; i++) {
    const at = START_MS + i * STEP_MS
    await client.zadd(key, at, `${at}:${String(100_000 + i)}`)
  }
  await client.pexpire(key, HOUR_MS)
  return (await measureOnly(client)).bytes
}

/** Through the library, which has no clock to set: its members do not depend on the time. */
async function plantRolling(client: Redis): Promise<Planted> {
  await client.flushdb()
  const limiter = new RedisRateLimiter({ client, namespace: 'rolling:', interval: HOUR_MS, maxInInterval: ADMISSIONS })
  for (let i = 0; i < ADMISSIONS; i++) await limiter.limit(USER)
  return measureOnly(client)
}

async function measureOnly(client: Redis): Promise<Planted> {
  const [key, ...others] = await client.keys('*')
  if (key === undefined || others.length > 0) throw new Error('expected exactly one key in the database')
  return { key, bytes: Number(await client.memory('USAGE', key)) }
}

function exactly(value: number): { median: number; least: number; most: number } {
  return { median: value, least: value, most: value }
}
