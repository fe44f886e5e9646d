import { startRedisCluster } from '@tidegate/conformance/services'
import { Cluster, type Redis } from 'ioredis'
import { endsWithUs } from '../children.ts'
import { decideMany, end, ofRounds, type Running, run } from '../engines/running.ts'
import { exact } from '../engines/tidegate.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { figure, range, scaled } from '../report/figures.ts'
import type { Outcome } from '../report/outcome.ts'
import { requestsOf, users } from '../requests.ts'
import { exactly, interleave, ratio, type Series, spread } from '../rounds.ts'

const QUOTA = { limit: 1000, seconds: 60 }
const IN_FLIGHT = 512
/** Of which shares are counted: so many that chance moves them by one percent or two. */
const REQUESTS = 2 ** 17

/** A cluster of three masters beside one node: how decisions spread over the nodes, and what one costs the servers. */
export async function measureCluster(server: RedisServer, plan: Plan): Promise<Outcome> {
  const names = users(10_000)
  const requests = requestsOf(names, REQUESTS)
  const cluster = await startRedisCluster()
  for (const { service } of cluster.nodes) endsWithUs(service.process)
  const nodes = cluster.nodes.map(({ admin }) => admin)
  const client = new Cluster(
    cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
    { retryDelayOnFailover: 0, redisOptions: { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 } },
  )
  try {
    const [one] = (await run([exact], server, QUOTA)) as [Running]
    const ask = await exact.open(client as unknown as Redis, QUOTA)
    const three: Running = {
      ...one,
      name: 'cluster of 3 masters',
      ask,
      servers: nodes,
      serverTimes: [],
      clientTimes: [],
    }
    const contestants = [{ ...one, name: 'one node' }, three].map((engine) => {
      return { name: engine.name, measure: () => decideMany(engine, requests, IN_FLIGHT, plan.seconds) }
    })
    const results = await interleave(contestants, plan.rounds)
    // Each user once, so that all have a key.
    for (let i = 0; i < names.length; i += IN_FLIGHT) await Promise.all(names.slice(i, i + IN_FLIGHT).map(ask))
    const shares = await sharesOf(nodes, requests)
    await end([one])
    const times = [one, three].map(({ name, serverTimes }): Series => ({ name, values: serverTimes.slice(1) }))
    const offBy = Math.max(...shares.map((share) => Math.abs(share * shares.length - 1)))
    const rows = results.map(({ name, values }, i) => {
      const [time, rate] = [ofRounds((i === 0 ? one : three).serverTimes), scaled(spread(values), 1 / 1000)]
      return [name, figure(time.median), range(time), figure(rate.median), range(rate)]
    })
    return {
      findings: [
        { target: 'clusterBalance', measured: exactly(100 * offBy) },
        { target: 'clusterTime', measured: ratio(times[1] as Series, times[0] as Series) },
      ],
      tables: [
        {
          title: 'Cluster, 10k keys, 1000 in 60 s, 512 in flight',
          head: ['what', 'Redis us each', 'least to most', 'k decisions/s', 'least to most'],
          rows,
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
