import { readServerTime, resetServerTime } from '../command-stats.ts'
import type { Ask } from '../engines/engine.ts'
import { logs } from '../engines/logs.ts'
import { end, type Running, run } from '../engines/running.ts'
import { inBatches } from '../engines/tidegate.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { tableOf } from '../report/figures.ts'
import type { Bar, Outcome, Reference } from '../report/outcome.ts'
import { users } from '../requests.ts'
import { interleave, ratio, type Series, spread } from '../rounds.ts'

const SIZES = [1, 16, 64, 256]
const [ADMITTED, REFUSED] = [
  { name: 'admitted, 1000 in 60 s', limit: 1000, seconds: 60 },
  { name: 'refused, 10 in 1 h', limit: 10, seconds: 3600 },
]
const KEYS = users(2048)

/** What a decision costs the server, by the number of decisions in one script call, beside a ZSET asked one by one. */
export async function measureBatches(server: RedisServer, plan: Plan): Promise<Outcome> {
  const references: Reference[] = []
  const findings: Outcome['findings'][number][] = []
  const bars: Bar[] = []
  for (const quota of [ADMITTED, REFUSED]) {
    const running = await run([...SIZES.map(inBatches), logs.zsetScript], server, quota as typeof ADMITTED)
    const sizes = [...SIZES, 1]
    const contestants = running.map((engine, i) => ({
      name: engine.name,
      measure: () => timeOfDecision(engine, sizes[i] as number, plan.seconds),
    }))
    // Ten admissions each, so that the second quota refuses and none begins with untouched keys.
    for (const { ask } of running) for (let i = 0; i < 10; i++) await Promise.all(KEYS.map(ask))
    const results = await interleave(contestants, plan.rounds)
    await end(running)
    for (const { name, values } of results) {
      const how = name.startsWith('tidegate') ? name : `${name} one by one`
      references.push({ what: `${quota?.name}: ${how}`, measured: spread(values), unit: 'us' })
      if (quota === ADMITTED) bars.push({ name: how, measured: spread(values), isOurs: how === name })
    }
    if (quota !== ADMITTED) continue
    const ours = results[SIZES.indexOf(64)] as Series
    findings.push({ target: 'serverTime', measured: ratio(ours, results[SIZES.length] as Series) })
  }
  return {
    findings,
    tables: [tableOf('Redis time of a decision, by how many are in one call', references)],
    charts: { 'redis-time.svg': { title: 'Time of Redis for an admission, by size of the batch', unit: 'us', bars } },
  }
}

/** Microseconds of the server for one decision, of those of so many seconds. */
async function timeOfDecision({ client, ask }: Running, size: number, seconds: number): Promise<number> {
  await resetServerTime(client)
  let asked = 0
  const until = performance.now() + seconds * 1000
  while (performance.now() < until) {
    await Promise.all(batch(ask, asked, size))
    asked += size
  }
  return (await readServerTime(client)).microseconds / asked
}

/** Asked in one turn. The first leaves at once, alone, where nothing is in flight; that is part of what it costs. */
function batch(ask: Ask, first: number, size: number): Promise<boolean>[] {
  return Array.from({ length: size }, (_, i) => ask(KEYS[(first + i) % KEYS.length] as string))
}
