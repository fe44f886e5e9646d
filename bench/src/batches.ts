import { readServerTime, resetServerTime } from './command-stats.ts'
import type { Outcome } from './findings.ts'
import type { Plan } from './plan.ts'
import { type Decide, tidegate } from './redis-engines.ts'
import type { RedisServer } from './redis-server.ts'
import { interleave, spread } from './rounds.ts'

const SIZES = [1, 16, 64, 256]
const QUOTAS = [
  { name: 'admitted, 1000 in 60 s', limit: 1000, seconds: 60 },
  { name: 'refused, 10 in 1 h', limit: 10, seconds: 3600 },
]
const KEYS = Array.from({ length: 2048 }, (_, i) => `user-${String(i).padStart(6, '0')}`)

/** What a decision costs the server, by the number of decisions in one script call. */
export async function measureBatches(server: RedisServer, plan: Plan): Promise<Outcome> {
  const references: Outcome['references'][number][] = []
  for (const quota of QUOTAS) {
    const client = await server.client(4)
    const decisions = Math.round(40_000 * plan.scale)
    // Ten admissions each, so that the second quota refuses and neither begins with untouched keys.
    const prepare = tidegate(client, quota)
    for (let i = 0; i < 10; i++) await Promise.all(KEYS.map(prepare))
    const contestants = SIZES.map((size) => {
      const decide = tidegate(client, quota, size)
      const measure = async () => {
        await resetServerTime(client)
        for (let done = 0; done < decisions; done += size) await decideBatch(decide, size)
        return (await readServerTime(client)).microseconds / decisions
      }
      return { name: String(size), measure }
    })
    for (const { name, values } of await interleave(contestants, plan.rounds)) {
      const what = `Server time a decision, ${quota.name}, in batches of ${name}`
      references.push({ what, measured: spread(values), unit: 'us' })
    }
    client.disconnect()
  }
  return { findings: [], references }
}

/** Asked in one turn; the first leaves at once, alone, because nothing is in flight, and is not waited for. */
async function decideBatch(decide: Decide, size: number): Promise<void> {
  const first = Math.floor(Math.random() * KEYS.length)
  await Promise.all(Array.from({ length: size }, (_, i) => decide(KEYS[(first + i) % KEYS.length] as string)))
}
