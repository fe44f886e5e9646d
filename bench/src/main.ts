import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { measureBatches } from './batches.ts'
import type { Outcome } from './findings.ts'
import { measureFootprint } from './footprint.ts'
import { measureLatency } from './latency.ts'
import { describeMachine } from './machine.ts'
import { measureMatching } from './matching.ts'
import { measureMemory } from './memory.ts'
import { measureMiddleware } from './middleware.ts'
import { type Options, readOptions, type Section } from './plan.ts'
import { checkReadings } from './reading.ts'
import { type RedisServer, startRedis } from './redis-server.ts'
import { renderFindings, renderReferences, renderReport } from './report.ts'
import { measureThroughput } from './throughput.ts'

const TEMPLATE = new URL('../benchmarks.template.md', import.meta.url)
const REPORT = new URL('../../docs/benchmarks.md', import.meta.url)

const options = readOptions(process.argv.slice(2))
exposeCollector()
const server = await startRedis()
try {
  const outcome = await measure(server, options)
  if (options.sections.some((section) => section === 'redis' || section === 'latency')) checkReadings()
  console.log(`${renderFindings(outcome.findings)}\n\n${renderReferences(outcome.references)}`)
  if (options.full) await writeReport(server, options, outcome)
} finally {
  await server.stop()
}

async function measure(redis: RedisServer, { plan, sections }: Options): Promise<Outcome> {
  const outcomes: Outcome[] = []
  const wanted = (section: Section) => sections.includes(section)
  if (wanted('memory')) outcomes.push(await measureMemory(plan))
  if (wanted('matching')) outcomes.push(await measureMatching(plan))
  if (wanted('redis')) outcomes.push(await measureThroughput(redis, plan), await measureBatches(redis, plan))
  if (wanted('latency')) outcomes.push(await measureLatency(redis, plan))
  if (wanted('middleware')) outcomes.push(await measureMiddleware(redis, plan))
  if (wanted('footprint')) outcomes.push(await measureFootprint(redis))
  return {
    findings: outcomes.flatMap(({ findings }) => findings),
    references: outcomes.flatMap(({ references }) => references),
  }
}

async function writeReport(redis: RedisServer, { plan }: Options, outcome: Outcome): Promise<void> {
  const circumstances = {
    date: new Date().toISOString().slice(0, 10),
    command: 'npm run bench',
    machine: describeMachine(redis.version),
    rounds: String(plan.rounds),
  }
  const report = renderReport(await readFile(TEMPLATE, 'utf8'), circumstances, outcome)
  await mkdir(new URL('.', REPORT), { recursive: true })
  await writeFile(REPORT, report)
}

/** `node --expose-gc` without asking for it on the command line. */
function exposeCollector(): void {
  setFlagsFromString('--expose-gc')
  Object.assign(globalThis, { gc: runInNewContext('gc') })
}
