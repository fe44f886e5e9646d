import { fixedWindows } from '../engines/fixed-windows.ts'
import { decideMany, end, run } from '../engines/running.ts'
import { exact, leased } from '../engines/tidegate.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import type { Outcome } from '../report/outcome.ts'
import { requestsOf, users } from '../requests.ts'
import { interleave, ratio, type Series } from '../rounds.ts'
import { describe } from './throughput.ts'

/** Large enough that all is admitted, and so that permits are worth fetching ahead. */
const QUOTA = { limit: 10_000_000, seconds: 60 }
const IN_FLIGHT = 512

/** One process that fetches permits in batches and decides by itself, 100 keys. */
export async function measureLeased(server: RedisServer, plan: Plan): Promise<Outcome> {
  const engines = [leased, exact, fixedWindows.flexible]
  const running = await run(engines, server, QUOTA)
  const requests = requestsOf(users(100), 2 ** 16)
  const contestants = running.map((engine) => {
    return { name: engine.name, measure: () => decideMany(engine, requests, IN_FLIGHT, plan.seconds) }
  })
  const results = await interleave(contestants, plan.rounds)
  await end(running)
  const [ours, , peer] = results as [Series, Series, Series]
  return {
    findings: [{ target: 'leased', measured: ratio(ours, peer) }],
    tables: [describe('Leased mode, 100 keys, all admitted, 512 in flight', { engines: running, results })],
    charts: {},
  }
}
