import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { exitOnSignals } from './children.ts'
import { measureArrivals } from './groups/arrivals.ts'
import { measureBatches } from './groups/batches.ts'
import { measureCluster } from './groups/cluster.ts'
import { measureExpiry } from './groups/expiry.ts'
import { measureFootprint } from './groups/footprint.ts'
import { measureLatency } from './groups/latency.ts'
import { measureLeased } from './groups/leased.ts'
import { measureLimits } from './groups/limits.ts'
import { measureMatching } from './groups/matching.ts'
import { measureMemory } from './groups/memory.ts'
import { measureMiddleware } from './groups/middleware.ts'
import { measureService } from './groups/service.ts'
import { measureHotKey, measureManyKeys } from './groups/throughput.ts'
import { measureUsers } from './groups/users.ts'
import { type Group, type Options, type Plan, readOptions } from './plan.ts'
import { checkReadings } from './reading.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { drawBars } from './report/bar-chart.ts'
import { describeMachine } from './report/machine.ts'
import { joined, type Outcome } from './report/outcome.ts'
import { fillReadme } from './report/readme.ts'
import { renderReport, renderTables, renderTargets } from './report/report.ts'

const TEMPLATE = new URL('../benchmarks.template.md', import.meta.url)
const REPORT = new URL('../../docs/benchmarks.md', import.meta.url)
const CHARTS = new URL('../../docs/images/benchmarks/', import.meta.url)
const README = new URL('../../README.md', import.meta.url)

const MEASURES: Record<Group, (server: RedisServer, plan: Plan) => Promise<Outcome>> = {
  redis: measureManyKeys,
  hot: measureHotKey,
  leased: measureLeased,
  batches: measureBatches,
  latency: measureLatency,
  arrivals: measureArrivals,
  footprint: measureFootprint,
  users: measureUsers,
  expiry: measureExpiry,
  cluster: measureCluster,
  limits: measureLimits,
  memory: (_, plan) => measureMemory(plan),
  matching: (_, plan) => measureMatching(plan),
  middleware: measureMiddleware,
  service: measureService,
}

const options = optionsOrExit()
exposeCollector()
exitOnSignals()
const start = performance.now()
const server = await startRedis()
try {
  const outcome = await measure(server, options)
  console.log(`${renderTargets(outcome)}\n\n${renderTables(outcome)}`)
  if (options.full) await writeReport(server, options, outcome)
} finally {
  await server.stop()
}

async function measure(redis: RedisServer, { plan, groups }: Options): Promise<Outcome> {
  const outcomes: Outcome[] = []
  for (const group of groups) {
    const begun = performance.now()
    outcomes.push(await MEASURES[group](redis, plan))
    console.error(`${group}: ${((performance.now() - begun) / 1000).toFixed(0)} s`)
  }
  checkReadings()
  return joined(outcomes)
}

/** docs/benchmarks.md, its charts, and the figures of README. */
async function writeReport(redis: RedisServer, { plan }: Options, outcome: Outcome): Promise<void> {
  const circumstances = {
    date: new Date().toISOString().slice(0, 10),
    command: 'npm run bench',
    machine: describeMachine(redis.version),
    rounds: String(plan.rounds),
    minutes: ((performance.now() - start) / 60_000).toFixed(0),
  }
  await mkdir(CHARTS, { recursive: true })
  for (const [file, chart] of Object.entries(outcome.charts)) await writeFile(new URL(file, CHARTS), drawBars(chart))
  await writeFile(REPORT, renderReport(await readFile(TEMPLATE, 'utf8'), circumstances, outcome))
  await writeFile(README, fillReadme(await readFile(README, 'utf8'), outcome))
}

function optionsOrExit(): Options {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    console.error((error as Error).message)
    process.exit(2)
  }
}

/** `node --expose-gc` without asking for it on the command line. */
function exposeCollector(): void {
  setFlagsFromString('--expose-gc')
  Object.assign(globalThis, { gc: runInNewContext('gc') })
}
