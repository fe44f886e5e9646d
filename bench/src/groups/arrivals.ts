import { emptyScript } from '../engines/empty-script.ts'
import { fixedWindows } from '../engines/fixed-windows.ts'
import { logs } from '../engines/logs.ts'
import { end, type Running, run } from '../engines/running.ts'
import { exact } from '../engines/tidegate.ts'
import { upstash } from '../engines/upstash.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { figure, range } from '../report/figures.ts'
import type { Outcome } from '../report/outcome.ts'
import { requestsOf, users } from '../requests.ts'
import { best, interleave, ratio, type Series, spread } from '../rounds.ts'

const PER_SECOND = 5000
const QUOTA = { limit: 1000, seconds: 60 }
const { flexible, rateLimitRedis, fastifyPlugin } = fixedWindows
const PEERS = [flexible, rateLimitRedis, fastifyPlugin, upstash.sliding, logs.asyncRatelimiter]

/**
 * Requests that arrive at a steady rate, whether or not those before have been answered. A request that is asked late,
 * because others kept the process busy, has waited all the same: its time counts from when it was due.
 */
export async function measureArrivals(server: RedisServer, plan: Plan): Promise<Outcome> {
  const running = await run([exact, ...PEERS, logs.zsetScript, emptyScript], server, QUOTA)
  const requests = requestsOf(users(10_000), 2 ** 16)
  const count = Math.round(PER_SECOND * 3 * plan.seconds)
  const tails: number[][] = running.map(() => [])
  const contestants = running.map((engine, i) => ({
    name: engine.name,
    measure: async () => {
      const waits = await waitsOf(engine, requests, count)
      tails[i]?.push(percentile(waits, 0.99))
      return percentile(waits, 0.5)
    },
  }))
  const medians = await interleave(contestants, plan.rounds)
  await end(running)
  // The first is that of the round that warms up.
  const all = { medians, tails: tails.map((values, i) => ({ name: running[i]?.name ?? '', values: values.slice(1) })) }
  const [bestMedian, bestTail] = [bestPeer(all.medians), bestPeer(all.tails)]
  const head = ['engine', 'p50, ms', 'least to most', 'p99, ms', 'least to most']
  const rows = medians.map(({ name, values }, i) => {
    const [middle, tail] = [spread(values), spread(all.tails[i]?.values ?? [])]
    return [name, figure(middle.median), range(middle), figure(tail.median), range(tail)]
  })
  const bars = all.tails.map(({ name, values }) => {
    return { name, measured: spread(values), isOurs: name === exact.name }
  })
  return {
    findings: [
      { target: 'arrivalMedian', measured: ratio(all.medians[0] as Series, bestMedian), against: bestMedian.name },
      { target: 'arrivalTail', measured: ratio(all.tails[0] as Series, bestTail), against: bestTail.name },
    ],
    tables: [{ title: 'Redis, 10k keys, 5,000 requests a second, from when each was due to its answer', head, rows }],
    charts: { 'redis-p99.svg': { title: 'Redis, 5,000 requests a second: 99th percentile', unit: 'ms', bars } },
  }
}

function bestPeer(all: readonly Series[]): Series {
  return best(
    all.filter(({ name }) => PEERS.some((peer) => peer.name === name)),
    'lower',
  )
}

/** Milliseconds of each request. The loop turns without a pause: a timer would let requests arrive in bunches. */
async function waitsOf({ ask }: Running, requests: readonly string[], count: number): Promise<Float64Array> {
  const waits = new Float64Array(count)
  const start = performance.now()
  const one = async (i: number, due: number) => {
    await ask(requests[i % requests.length] as string)
    waits[i] = performance.now() - due
  }
  const open: Promise<void>[] = []
  for (let i = 0; i < count; ) {
    const now = performance.now()
    for (let due = dueOf(i); i < count && due <= now; due = dueOf(++i)) open.push(one(i, due))
    await new Promise(setImmediate)
  }
  await Promise.all(open)
  return waits

  function dueOf(i: number): number {
    return start + (i * 1000) / PER_SECOND
  }
}

function percentile(values: Float64Array, share: number): number {
  return values.toSorted()[Math.floor((values.length - 1) * share)] as number
}
