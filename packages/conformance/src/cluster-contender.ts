import { Cluster } from 'ioredis'
import { createGate, type RuleOptions } from 'tidegate'
import { redisStore } from 'tidegate/redis'

/**
 * Rules of every algorithm, whose keys lie in different slots. Nothing ends by itself while a test lasts, so that what is
 * counted in the end is what was admitted.
 */
export const contendedRules: readonly RuleOptions[] = [
  { name: 'site', limit: 900, window: '1h' },
  { name: 'user', key: ['user'], algorithm: 'sliding-log', limit: 150, window: '1h' },
  { name: 'stock', key: ['item'], algorithm: 'quota', limit: 280 },
  { name: 'slots', key: ['route'], algorithm: 'concurrency', limit: 400, window: '1h' },
  { name: 'yearly', key: ['tenant'], algorithm: 'fixed-window', align: 'year', limit: 420 },
  { name: 'about', key: ['plan'], algorithm: 'sliding-counter', limit: 500, window: '366d' },
  { name: 'bucket', key: ['region'], algorithm: 'token-bucket', limit: 500, window: '366d' },
]

/** How many values each dimension has. */
export const VALUES: Readonly<Record<string, number>> = { user: 8, item: 4, route: 3, tenant: 3, plan: 2, region: 2 }

/** What one process was answered. */
export interface ClusterReport {
  /** The descriptor and cost of each admitted request. */
  readonly admitted: { readonly descriptor: Record<string, string>; readonly cost: number }[]
  readonly refused: number
  /** How often a charge was given back, because another slot refused. */
  readonly givenBack: number
  readonly failures: string[]
}

const IN_FLIGHT = 16

/**
 * One of several processes that want the same keys of a cluster:
 *   node cluster-contender.js NUMBER DURATION_MS PORT...
 */
async function contend(): Promise<ClusterReport> {
  const [number, duration, ...ports] = process.argv.slice(2).map(Number) as [number, number, ...number[]]
  const nodes = ports.map((port) => ({ host: '127.0.0.1', port }))
  const redisOptions = { autoResendUnfulfilledCommands: false }
  const client = new Cluster(nodes, { redisOptions, retryDelayOnFailover: 0 })
  const store = redisStore(client, { guarded: false })
  let [seed, refused, givenBack] = [number + 1, 0, 0]
  const { call } = client
  // Of all scripts the one that refunds says whose admission is meant: that of one request.
  client.call = ((...words: Parameters<typeof call>) => {
    if (words.flat().includes('one')) givenBack++
    return call.apply(client, words)
  }) as typeof call
  const gate = createGate({ rules: [...contendedRules], store })
  const report = { admitted: [] as ClusterReport['admitted'], failures: [] as string[] }
  const random = (below: number) => {
    // Numerical Recipes' generator: the same requests in every run.
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  const end = Date.now() + duration
  const ask = async () => {
    while (Date.now() < end) {
      const descriptor = Object.fromEntries(Object.entries(VALUES).map(([name, count]) => [name, `${random(count)}`]))
      const cost = 1 + random(3)
      try {
        const { allowed } = await gate.limit(descriptor, { cost })
        if (allowed) report.admitted.push({ descriptor, cost })
        else refused++
      } catch (error) {
        report.failures.push(String(error))
        return
      }
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, ask))
  client.disconnect()
  return { ...report, refused, givenBack }
}

if (process.argv[1] === import.meta.filename) process.stdout.write(JSON.stringify(await contend()))
