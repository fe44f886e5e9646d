import { startRedisCluster } from '@tidegate/conformance/services'
import { Cluster, type Redis } from 'ioredis'
import { readServerTime, resetServerTime } from '../command-stats.ts'
import { decideMany, end, run } from '../engines/running.ts'
import { exact } from '../engines/tidegate.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { figure, range } from '../report/figures.ts'
import type { Outcome } from '../report/outcome.ts'
import { requestsOf, users } from '../requests.ts'
import { exactly, interleave, ratio, type Series, spread } from '../rounds.ts'

const QUOTA = { limit: 1000, seconds: 60 }
const IN_FLIGHT = 512
const DECISIONS = 50_000

/** A cluster of three masters beside one node: how decisions spread over the nodes, and what one costs the servers. */
export async function measureCluster(server: RedisServer, plan: Plan): Promise<Outcome> {
  const names = users(10_000)
  const requests = requestsOf(names, 2 ** 17)
  const cluster = await startRedisCluster()
  const nodes = cluster.nodes.map(({ admin }) => admin)
  const client = new Cluster(
    cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
    { retryDelayOnFailover: 0, redisOptions: { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 } },
  )
  try {
    const [single] = await run([exact], server, QUOTA, plan)
    if (single === undefined) throw new Error('expected one engine to run')
    const decisions = Math.max(1000, Math.round(DECISIONS * plan.scale))
    const ask = await exact.open(client as unknown as Redis, QUOTA)
    const rates: { one: number[]; three: number[] } = { one: [], three: [] }
    const measure = async (on: readonly Redis[], decide: () => Promise<number>, into: number[]) => {
      await resetServerTime(...on)
      into.push(await decide())
      return (await readServerTime(...on)).microseconds / decisions
    }
    const inCluster = () => decideAll(ask, requests, decisions)
    const onOne = () => decideMany({ ...single, decisions }, requests, IN_FLIGHT)
    const results = await interleave(
      [
        { name: 'one node', measure: () => measure([single.client], onOne, rates.one) },
        { name: 'cluster of 3 masters', measure: () => measure(nodes, inCluster, rates.three) },
      ],
      plan.rounds,
    )
    const shares = await sharesOf(nodes, requests.slice(0, decisions))
    await end([single])
    const [one, three] = results as [Series, Series]
    const offBy = Math.max(...shares.map((share) => Math.abs(share * shares.length - 1)))
    const row = ({ name, values }: Series, rate: readonly number[]) => {
      const [time, perSecond] = [spread(values), spread(rate.slice(1).map((value) => value / 1000))]
      return [name, figure(time.median), range(time), figure(perSecond.median), range(perSecond)]
    }
    return {
      findings: [
        { target: 'clusterBalance', measured: exactly(100 * offBy) },
        { target: 'clusterTime', measured: ratio(three, one) },
      ],
      tables: [
        {
          title: 'Cluster, 10k keys, 1000 in 60 s, 512 in flight',
          head: ['what', 'Redis us each', 'least to most', 'k decisions/s', 'least to most'],
          rows: [row(one, rates.one), row(three, rates.three)],
        },
        {
          title: 'Cluster, share of each node in the decisions',
          head: ['node', 'share'],
          rows: shares.map((share, i) => [String(i + 1), `${figure(100 * share)} %`]),
        },
      ],
      charts: {},
    }
  } finally {
    client.disconnect()
    await cluster.stop()
  }
}

async function decideAll(
  ask: (key: string) => Promise<boolean>,
  requests: readonly string[],
  decisions: number,
): Promise<number> {
  let next = 0
  const work = async () => {
    while (next < decisions) await ask(requests[next++ % requests.length] as string)
  }
  const start = performance.now()
  await Promise.all(Array.from({ length: IN_FLIGHT }, work))
  return (decisions / (performance.now() - start)) * 1000
}

/** By who holds the keys: each key is decided where it is kept. */
async function sharesOf(nodes: readonly Redis[], requests: readonly string[]): Promise<number[]> {
  const homes = new Map<string, number>()
  for (const [i, node] of nodes.entries()) {
    for (const key of await node.keys('*')) homes.set(/user-\d+/.exec(key)?.[0] ?? key, i)
  }
  const counts = nodes.map(() => 0)
  for (const request of requests) {
    const home = homes.get(request)
    if (home === undefined) throw new Error(`no node holds a key of ${request}`)
    counts[home] = (counts[home] as number) + 1
  }
  return counts.map((count) => count / requests.length)
}
