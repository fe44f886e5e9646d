import { emptyScript } from '../engines/empty-script.ts'
import { end, type Running, run } from '../engines/running.ts'
import { exact } from '../engines/tidegate.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { tableOf } from '../report/figures.ts'
import type { Outcome } from '../report/outcome.ts'
import { users } from '../requests.ts'
import { ratio, spread } from '../rounds.ts'

const KEYS = users(50)

/**
 * One request at a time, beside the least that a script call can take: an empty script, on a client of the same kind. The
 * two take turns in small blocks, so that both see the same machine.
 */
export async function measureLatency(server: RedisServer, plan: Plan): Promise<Outcome> {
  const running = await run([exact, emptyScript], server, { limit: 1_000_000, seconds: 60 })
  const [ours, empty] = running as [Running, Running]
  const medians: { ours: number[]; empty: number[] } = { ours: [], empty: [] }
  for (let round = 0; round <= plan.rounds; round++) {
    const [decided, replied]: [number[], number[]] = [[], []]
    const until = performance.now() + 2 * plan.seconds * 1000
    while (performance.now() < until) {
      for (const key of KEYS) replied.push(await microseconds(() => empty.ask(key)))
      for (const key of KEYS) decided.push(await microseconds(() => ours.ask(key)))
    }
    if (round === 0) continue
    medians.ours.push(spread(decided).median)
    medians.empty.push(spread(replied).median)
  }
  await end(running)
  const measured = ratio({ name: 'ours', values: medians.ours }, { name: 'empty', values: medians.empty })
  return {
    findings: [{ target: 'latency', measured }],
    tables: [
      tableOf('Redis, one request at a time, median latency', [
        { what: 'tidegate', measured: spread(medians.ours), unit: 'us' },
        { what: 'empty EVALSHA', measured: spread(medians.empty), unit: 'us' },
      ]),
    ],
    charts: {},
  }
}

async function microseconds(call: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint()
  await call()
  return Number(process.hrtime.bigint() - start) / 1000
}
