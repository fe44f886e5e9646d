import type { Redis } from 'ioredis'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { readServerTime, resetServerTime } from '../command-stats.ts'
import { ZSET_SCRIPT } from '../engines/zset-script.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { tableOf } from '../report/figures.ts'
import type { Outcome } from '../report/outcome.ts'
import { interleave, type Series, spread } from '../rounds.ts'

const ADMISSIONS = 100_000
const HOUR_MS = 3_600_000
const START_MS = 1_780_000_000_000
const USER = 'user-000001'

interface Log {
  readonly client: Redis
  /** One request at the end of time, which drops all that the log holds. */
  readonly ask: () => Promise<unknown>
  /** The keys of the full log, as RESTORE takes them. */
  readonly dumps: ReadonlyMap<string, Buffer>
}

/** A log of 100,000 admissions, each in a millisecond of its own, all of which have left the window at the next call. */
export async function measureExpiry(server: RedisServer, plan: Plan): Promise<Outcome> {
  const [ours, zset] = [await plantTidegate(server), await plantZset(server)]
  const contestants = [
    { name: 'tidegate', measure: () => timeOfExpiry(ours) },
    { name: 'ZSET script', measure: () => timeOfExpiry(zset) },
  ]
  const results = await interleave(contestants, plan.rounds)
  for (const { client } of [ours, zset]) {
    await client.flushdb()
    client.disconnect()
  }
  const references = results.map(({ name, values }) => {
    return { what: name, measured: spread(values), unit: 'us' } as const
  })
  return {
    findings: [{ target: 'expiry', measured: spread((results[0] as Series).values) }],
    tables: [tableOf('Redis time of the call at which 100k admissions of a key expire', references)],
    charts: {},
  }
}

/** Microseconds of the one script call that finds the whole log expired. */
async function timeOfExpiry({ client, ask, dumps }: Log): Promise<number> {
  await client.flushdb()
  for (const [key, dump] of dumps) await client.restore(key, HOUR_MS, dump)
  await resetServerTime(client)
  await ask()
  const { microseconds, calls } = await readServerTime(client)
  if (calls !== 1) throw new Error(`expected one script call, found ${calls}`)
  return microseconds
}

/** Batches of one: every call reads the clock, which goes on by a millisecond. */
async function plantTidegate(server: RedisServer): Promise<Log> {
  const client = await server.client(1)
  let now = START_MS
  const store = redisStore(client, { guarded: false, clock: () => now++, maxBatch: 1 })
  const limiter = createLimiter({ limit: ADMISSIONS, window: HOUR_MS, name: 'bench', store })
  const ask = async () => (await limiter.limit(USER)).allowed
  await plant(ask)
  if (now > START_MS + HOUR_MS) throw new Error('the log was planted for longer than its window')
  const atTheEnd = () => {
    now = START_MS + 10 * HOUR_MS
    return ask()
  }
  return { client, dumps: await dump(client), ask: atTheEnd }
}

async function plantZset(server: RedisServer): Promise<Log> {
  const client = await server.client(2)
  const sha1 = String(await client.script('LOAD', ZSET_SCRIPT))
  let now = START_MS
  const at = (time: number) => client.evalsha(sha1, 1, `zset:${USER}`, ADMISSIONS, HOUR_MS, '000001', time)
  await plant(async () => ((await at(now++)) as number[])[0] === 1)
  return { client, dumps: await dump(client), ask: () => at(START_MS + 10 * HOUR_MS) }
}

async function plant(ask: () => Promise<boolean>): Promise<void> {
  let left = ADMISSIONS
  const work = async () => {
    while (left-- > 0) if (!(await ask())) throw new Error('an admission within the limit was refused')
  }
  await Promise.all(Array.from({ length: 256 }, work))
}

async function dump(client: Redis): Promise<Map<string, Buffer>> {
  const dumps = new Map<string, Buffer>()
  for (const key of await client.keys('*')) dumps.set(key, await client.dumpBuffer(key))
  return dumps
}
