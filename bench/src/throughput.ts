import type { Redis } from 'ioredis'
import { readServerTime, resetServerTime } from './command-stats.ts'
import type { Outcome, Reference } from './findings.ts'
import type { Plan } from './plan.ts'
import { type Decide, flexible, rolling, tidegate } from './redis-engines.ts'
import type { RedisServer } from './redis-server.ts'
import { interleave, ratio, type Series, spread } from './rounds.ts'

const QUOTA = { limit: 1000, seconds: 60 }
const KEYS = Array.from({ length: 10_000 }, (_, i) => `user-${String(i).padStart(6, '0')}`)
const IN_FLIGHT = [512, 64]

interface Engine {
  readonly name: string
  readonly client: Redis
  readonly decide: Decide
  /** Fewer for the slower ones: each measures for about as long. */
  readonly decisions: number
  /** Microseconds of the server for each decision, one figure for each measurement. */
  readonly serverTimes: number[]
}

/** One Node process and one Redis: each engine with a client and an emptied database of its own. */
export async function measureThroughput(server: RedisServer, plan: Plan): Promise<Outcome> {
  const findings: Outcome['findings'][number][] = []
  const references: Reference[] = []
  for (const inFlight of IN_FLIGHT) {
    const engines = await prepare(server, plan)
    const contestants = engines.map((engine) => ({ name: engine.name, measure: () => decideMany(engine, inFlight) }))
    const results = await interleave(contestants, plan.rounds)
    const [ours, fixed, zset] = results as [Series, Series, Series]
    const ratios = { redisFlexible: ratio(ours, fixed), redisRolling: ratio(ours, zset) }
    if (inFlight === 512) {
      findings.push({ target: 'redisFlexible', measured: ratios.redisFlexible })
      findings.push({ target: 'redisRolling', measured: ratios.redisRolling })
    } else {
      const what = `Redis, ${inFlight} in flight: tidegate vs`
      references.push({ what: `${what} rate-limiter-flexible`, measured: ratios.redisFlexible, unit: 'x' })
      references.push({ what: `${what} rolling-rate-limiter`, measured: ratios.redisRolling, unit: 'x' })
    }
    references.push(...describe(inFlight, results, engines))
    for (const { client } of engines) client.disconnect()
  }
  return { findings, references }
}

async function prepare(server: RedisServer, plan: Plan): Promise<Engine[]> {
  const [first, second, third] = [await server.client(1), await server.client(2), await server.client(3)]
  const engine = (name: string, client: Redis, decide: Decide, decisions: number): Engine => {
    return { name, client, decide, decisions: Math.round(decisions * plan.scale), serverTimes: [] }
  }
  return [
    engine('tidegate', first, tidegate(first, QUOTA), 200_000),
    engine('rate-limiter-flexible', second, flexible(second, QUOTA), 80_000),
    engine('rolling-rate-limiter', third, rolling(third, QUOTA), 16_000),
  ]
}

/** Decisions per second, with `inFlight` of them waiting for an answer at any time. */
async function decideMany({ client, decide, decisions, serverTimes }: Engine, inFlight: number): Promise<number> {
  let left = decisions
  const work = async () => {
    while (left-- > 0) await decide(KEYS[Math.floor(Math.random() * KEYS.length)] as string)
  }
  await resetServerTime(client)
  const start = performance.now()
  await Promise.all(Array.from({ length: inFlight }, work))
  const elapsed = performance.now() - start
  serverTimes.push((await readServerTime(client)).microseconds / decisions)
  return (decisions / elapsed) * 1000
}

function describe(inFlight: number, results: readonly Series[], engines: readonly Engine[]): Reference[] {
  return results.flatMap(({ name, values }, i): Reference[] => {
    const what = `Redis, 10k keys, ${inFlight} in flight: ${name}`
    const rates = spread(values.map((value) => value / 1000))
    // The first is that of the round that warms up.
    const times = spread(engines[i]?.serverTimes.slice(1) ?? [])
    return [
      { what, measured: rates, unit: 'k/s' },
      { what: `${what}, server time a decision`, measured: times, unit: 'us' },
    ]
  })
}
