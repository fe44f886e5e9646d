import type { Quota } from '../engines/engine.ts'
import { fixedWindows } from '../engines/fixed-windows.ts'
import { logs } from '../engines/logs.ts'
import { decideMany, end, ofRounds, type Running, run } from '../engines/running.ts'
import { cached, exact, fixedWindow } from '../engines/tidegate.ts'
import { upstash } from '../engines/upstash.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { figure, range, scaled } from '../report/figures.ts'
import type { BarChart, Outcome, Table } from '../report/outcome.ts'
import { requestsOf, users } from '../requests.ts'
import { best, interleave, ratio, type Series, spread } from '../rounds.ts'

const QUOTA: Quota = { limit: 1000, seconds: 60 }
const { flexible, rateLimitRedis, fastifyPlugin } = fixedWindows
const FIXED = [flexible, rateLimitRedis, fastifyPlugin, upstash.fixed]
/** The peers that keep up; rolling-rate-limiter counts its refusals too, so that a hot key grows without end. */
const PEERS = [...FIXED, upstash.sliding, logs.asyncRatelimiter]

/** One Node process and one Redis, 10k keys that are nearly always admitted. */
export async function measureManyKeys(server: RedisServer, plan: Plan): Promise<Outcome> {
  const requests = requestsOf(users(10_000), 2 ** 18)
  const engines = [exact, fixedWindow, ...PEERS, logs.rolling, logs.zsetScript]
  const [many, few] = await measureInFlights(engines, server, plan, requests)
  const ours = many.of(exact.name)
  const fastestOfFew = best(few.all(FIXED), 'higher')
  const fastestOfMany = best(many.all([...PEERS, logs.rolling]), 'higher')
  return {
    findings: [
      { target: 'redisFlexible', measured: ratio(ours, many.of(flexible.name)) },
      { target: 'redisUpstash', measured: ratio(ours, many.of(upstash.sliding.name)) },
      { target: 'redisRolling', measured: ratio(ours, many.of(logs.rolling.name)) },
      { target: 'redisAsync', measured: ratio(ours, many.of(logs.asyncRatelimiter.name)) },
      { target: 'redisFew', measured: ratio(few.of(exact.name), fastestOfFew), against: fastestOfFew.name },
      {
        target: 'redisFixed',
        measured: ratio(many.of(fixedWindow.name), fastestOfMany),
        against: fastestOfMany.name,
      },
    ],
    tables: [
      describe('Redis, 10k keys, 1000 in 60 s, 512 in flight', many),
      describe('Redis, 10k keys, 1000 in 60 s, 64 in flight', few),
    ],
    charts: { 'redis-512.svg': draw('Redis, 10k keys, 512 in flight', many) },
  }
}

/** One key that is nearly always refused. */
export async function measureHotKey(server: RedisServer, plan: Plan): Promise<Outcome> {
  const engines = [exact, cached, ...PEERS, logs.zsetScript]
  const [many, few] = await measureInFlights(engines, server, plan, users(1))
  const [fastestOfMany, fastestOfFew] = [best(many.all(PEERS), 'higher'), best(few.all(PEERS), 'higher')]
  return {
    findings: [
      { target: 'hotMany', measured: ratio(many.of(exact.name), fastestOfMany), against: fastestOfMany.name },
      { target: 'hotFew', measured: ratio(few.of(exact.name), fastestOfFew), against: fastestOfFew.name },
    ],
    tables: [
      describe('Redis, one hot key, 1000 in 60 s, 512 in flight', many),
      describe('Redis, one hot key, 1000 in 60 s, 64 in flight', few),
    ],
    charts: { 'redis-hot-512.svg': draw('Redis, one hot key, 512 in flight', many) },
  }
}

interface Measured {
  readonly engines: readonly Running[]
  readonly results: readonly Series[]
  of(name: string): Series
  all(engines: readonly { readonly name: string }[]): Series[]
}

async function measureInFlights(
  engines: Parameters<typeof run>[0],
  server: RedisServer,
  plan: Plan,
  requests: readonly string[],
): Promise<[Measured, Measured]> {
  const measured: Measured[] = []
  for (const inFlight of [512, 64]) {
    const running = await run(engines, server, QUOTA)
    const contestants = running.map((engine) => {
      return { name: engine.name, measure: () => decideMany(engine, requests, inFlight, plan.seconds) }
    })
    const results = await interleave(contestants, plan.rounds)
    const of = (name: string) => results.find((series) => series.name === name) as Series
    measured.push({ engines: running, results, of, all: (some) => some.map(({ name }) => of(name)) })
    await end(running)
  }
  return measured as [Measured, Measured]
}

export function describe(title: string, { engines, results }: Pick<Measured, 'engines' | 'results'>): Table {
  const [ours] = results as [Series]
  const rows = results.map((series, i) => {
    const { counts, serverTimes, clientTimes } = engines[i] as Running
    const rate = scaled(spread(series.values), 1 / 1000)
    const cells = [series.name, counts, figure(rate.median), range(rate)]
    return [
      ...cells,
      series === ours ? '1x' : `${figure(ratio(ours, series).median)}x`,
      `${figure(ofRounds(serverTimes).median)} (${range(ofRounds(serverTimes))})`,
      `${figure(ofRounds(clientTimes).median)} (${range(ofRounds(clientTimes))})`,
    ]
  })
  const head = [
    'engine',
    'counts',
    'k decisions/s',
    'least to most',
    `${ours.name} is`,
    'Redis us each',
    'client us each',
  ]
  return { title, head, rows }
}

function draw(title: string, { results }: Measured): BarChart {
  const bars = results.map(({ name, values }) => {
    return { name, measured: scaled(spread(values), 1 / 1000), isOurs: name.startsWith('tidegate') }
  })
  return { title: `${title}: thousand decisions a second`, unit: 'k/s', bars }
}
