import type { Redis } from 'ioredis'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { ZSET_SCRIPT } from '../engines/zset-script.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { figure } from '../report/figures.ts'
import type { Outcome } from '../report/outcome.ts'
import { users } from '../requests.ts'
import { exactly } from '../rounds.ts'

const USERS = 100_000
const LIMIT = 10
const HOUR_MS = 3_600_000
const START_MS = 1_780_000_000_000
const IN_FLIGHT = 512

/** 100,000 users, each with ten admissions spread over an hour: what the server's `used_memory` grows by. */
export async function measureUsers(server: RedisServer, { seconds }: Plan): Promise<Outcome> {
  const names = users(seconds < 0.1 ? USERS / 10 : USERS)
  const ours = await growth(server, names, (client, time) => {
    const limit = { limit: LIMIT, window: HOUR_MS, name: 'user-hourly' }
    const limiter = createLimiter({ ...limit, store: redisStore(client, { guarded: false, clock: time }) })
    return async (name) => (await limiter.limit(name)).allowed
  })
  const zset = await growth(server, names, async (client, time) => {
    const sha1 = String(await client.script('LOAD', ZSET_SCRIPT))
    let requests = 0
    return async (name) => {
      const id = String(++requests % 1_000_000).padStart(6, '0')
      // The name is as long as ours, so that what differs is what is kept.
      const reply = await client.evalsha(sha1, 1, `zset:{${name}}:user-hourly.1a2b3c4d`, LIMIT, HOUR_MS, id, time())
      return (reply as number[])[0] === 1
    }
  })
  const megabytes = (bytes: number) => (bytes / names.length) * (USERS / 1e6)
  return {
    findings: [
      { target: 'usersRatio', measured: exactly(ours / zset) },
      { target: 'usersMemory', measured: exactly(megabytes(ours)) },
    ],
    tables: [
      {
        title: 'Redis memory of 100k users at 10 an hour, all full',
        head: ['what', 'MB', 'B a user'],
        rows: [
          ['tidegate', figure(megabytes(ours)), figure(ours / names.length)],
          ['ZSET of `timestamp:id`', figure(megabytes(zset)), figure(zset / names.length)],
        ],
      },
    ],
    charts: {},
  }
}

type Ask = (name: string) => Promise<boolean>

async function growth(
  server: RedisServer,
  names: readonly string[],
  open: (client: Redis, time: () => number) => Ask | Promise<Ask>,
): Promise<number> {
  const client = await server.client(1)
  let now = START_MS
  const ask = await open(client, () => now)
  const before = await usedMemory(client)
  for (let admission = 0; admission < LIMIT; admission++) {
    await each(names, async (name, i) => {
      // No two admissions of a user in one millisecond, nor all users at the same times.
      now = START_MS + admission * 350_123 + (i % 997)
      if (!(await ask(name))) throw new Error(`${name} was refused within his limit`)
    })
  }
  const bytes = (await usedMemory(client)) - before
  if (await ask(names[0] as string)) throw new Error('a user whose limit is spent was admitted')
  await client.flushdb()
  client.disconnect()
  return bytes
}

async function each(names: readonly string[], work: (name: string, i: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < names.length) {
      const i = next++
      await work(names[i] as string, i)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
}

async function usedMemory(client: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
}
