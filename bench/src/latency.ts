import type { Outcome } from './findings.ts'
import type { Plan } from './plan.ts'
import { tidegate } from './redis-engines.ts'
import type { RedisServer } from './redis-server.ts'
import { ratio, spread } from './rounds.ts'

const BLOCKS = 60
const CALLS = 50
const EMPTY = 'return 1'

/**
 * One request at a time, beside the least that a script call can take: an empty script, on the same
 * client. The two take turns in small blocks, so that both see the same machine.
 */
export async function measureLatency(server: RedisServer, plan: Plan): Promise<Outcome> {
  const client = await server.client(5)
  const decide = tidegate(client, { limit: 1000, seconds: 60 })
  const sha1 = String(await client.script('LOAD', EMPTY))
  const keys = Array.from({ length: CALLS }, (_, i) => `user-${String(i).padStart(6, '0')}`)
  const [ours, empty]: [number[], number[]] = [[], []]
  for (let round = 0; round <= plan.rounds; round++) {
    const [decided, replied]: [number[], number[]] = [[], []]
    for (let block = 0; block < BLOCKS; block++) {
      for (const key of keys) replied.push(await microseconds(() => client.evalsha(sha1, 1, key)))
      for (const key of keys) decided.push(await microseconds(() => decide(key)))
    }
    if (round === 0) continue
    ours.push(spread(decided).median)
    empty.push(spread(replied).median)
  }
  client.disconnect()
  return {
    findings: [
      { target: 'latency', measured: ratio({ name: 'ours', values: ours }, { name: 'empty', values: empty }) },
    ],
    references: [
      { what: 'Redis, one in flight, median latency: tidegate', measured: spread(ours), unit: 'us' },
      { what: 'Redis, one in flight, median latency: empty EVALSHA', measured: spread(empty), unit: 'us' },
    ],
  }
}

async function microseconds(call: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint()
  await call()
  return Number(process.hrtime.bigint() - start) / 1000
}
