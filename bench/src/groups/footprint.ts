import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { fixedWindows } from '../engines/fixed-windows.ts'
import { logs } from '../engines/logs.ts'
import { end, type Running, run } from '../engines/running.ts'
import { exact, fixedWindow } from '../engines/tidegate.ts'
import { upstash } from '../engines/upstash.ts'
import type { RedisServer } from '../redis-server.ts'
import { figure } from '../report/figures.ts'
import type { Outcome } from '../report/outcome.ts'
import { exactly } from '../rounds.ts'

const USER = 'user-000001'
const HOUR_MS = 3_600_000
const START_MS = 1_780_000_000_000
const [FEW, MANY] = [10, 1000]

/** What Redis keeps of one key: its admissions spread over an hour, and as each engine keeps them. */
export async function measureFootprint(server: RedisServer): Promise<Outcome> {
  const client = await server.client(1)
  const [few, many] = [await plant(client, FEW), await plant(client, MANY)]
  await client.flushdb()
  client.disconnect()
  const rows = await bytesOfEngines(server)
  return {
    findings: [
      { target: 'footprint', measured: exactly(few.ours / few.zset) },
      { target: 'thousand', measured: exactly(many.ours / many.zset) },
    ],
    tables: [
      {
        title: 'MEMORY USAGE of one key, admissions spread over an hour',
        head: ['what', `${FEW} admissions, B`, `${MANY} admissions, B`],
        rows: [
          [`tidegate (\`${few.key}\`)`, figure(few.ours), figure(many.ours)],
          ['ZSET of `timestamp:id`, a 6-character id, name as long', figure(few.zset), figure(many.zset)],
        ],
      },
      {
        title: 'MEMORY USAGE of all keys of one user, admissions one after the other',
        head: ['engine', 'counts', `${FEW} admissions, B`, `${MANY} admissions, B`],
        rows,
      },
    ],
    charts: {},
  }
}

interface Planted {
  /** Our key. */
  readonly key: string
  readonly ours: number
  readonly zset: number
}

/** Ours through the library, on a clock that runs ahead by itself; the ZSET at the same times, under a name as long. */
async function plant(client: Redis, admissions: number): Promise<Planted> {
  await client.flushdb()
  let now = START_MS
  const limit = { limit: admissions, window: HOUR_MS, name: 'bench' }
  const limiter = createLimiter({ ...limit, store: redisStore(client, { guarded: false, clock: () => now }) })
  const times = Array.from({ length: admissions }, (_, i) => START_MS + Math.floor((i * 0.97 * HOUR_MS) / admissions))
  for (const time of times) {
    now = time
    if (!(await limiter.limit(USER)).allowed) throw new Error('an admission within the limit was refused')
  }
  const [key, ...others] = await client.keys('*')
  if (key === undefined || others.length > 0) throw new Error('expected exactly one key in the database')
  const ours = Number(await client.memory('USAGE', key, 'SAMPLES', 0))
  await client.flushdb()
  const zset = key.replaceAll(/[^:]/g, 'z')
  for (const [i, time] of times.entries()) await client.zadd(zset, time, `${time}:${String(i).padStart(6, '0')}`)
  await client.pexpire(zset, HOUR_MS)
  return { key, ours, zset: Number(await client.memory('USAGE', zset, 'SAMPLES', 0)) }
}

/** Each engine by its own clock, at least 2 ms between two requests. */
async function bytesOfEngines(server: RedisServer): Promise<string[][]> {
  const { flexible, rateLimitRedis, fastifyPlugin } = fixedWindows
  const peers = [flexible, rateLimitRedis, fastifyPlugin, upstash.fixed, upstash.sliding, ...Object.values(logs)]
  const figures = new Map<string, string[]>()
  for (const admissions of [FEW, MANY]) {
    const running = await run([exact, fixedWindow, ...peers], server, { limit: admissions, seconds: 3600 })
    for (let i = 0; i < admissions; i++) {
      await Promise.all(running.map((engine) => admit(engine)))
      await sleep(2)
    }
    for (const { name, counts, client } of running) {
      const usages = await Promise.all(
        (await client.keys(`*${USER}*`)).map((key) => client.memory('USAGE', key, 'SAMPLES', 0)),
      )
      const bytes = usages.reduce<number>((sum, usage) => sum + Number(usage), 0)
      figures.set(name, [...(figures.get(name) ?? [name, counts]), figure(bytes)])
    }
    await end(running)
  }
  return [...figures.values()]
}

async function admit({ name, ask }: Running): Promise<void> {
  if (!(await ask(USER))) throw new Error(`${name} refused an admission within its limit`)
}
