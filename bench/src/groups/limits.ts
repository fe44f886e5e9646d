import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { emptyScript } from '../engines/empty-script.ts'
import { decideMany, end, run } from '../engines/running.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { tableOf } from '../report/figures.ts'
import type { Outcome, Reference } from '../report/outcome.ts'
import { requestsOf, users } from '../requests.ts'
import { interleave, spread } from '../rounds.ts'

const execute = promisify(execFile)
const PIPELINES = [1, 16, 64]
const IN_FLIGHTS = [1, 64, 512]

/** What the machine, the server and the client can do when nothing is decided. */
export async function measureLimits(server: RedisServer, plan: Plan): Promise<Outcome> {
  const client = await server.client(1)
  const sha1 = String(await client.script('LOAD', 'return 1'))
  client.disconnect()
  const commands = {
    'INCR of 10k keys': ['-r', '10000', 'INCR', 'key:__rand_int__'],
    'EVALSHA of an empty script': ['EVALSHA', sha1, '0'],
  }
  const contestants = []
  if (await hasBenchmark()) {
    for (const [name, words] of Object.entries(commands)) {
      for (const pipeline of PIPELINES) {
        const count = Math.max(1000, Math.round(60_000 * Math.sqrt(pipeline) * plan.seconds))
        const args = [
          '-p',
          String(server.port),
          '-c',
          '50',
          '-P',
          String(pipeline),
          '-n',
          String(count),
          '--csv',
          ...words,
        ]
        contestants.push({
          name: `redis-benchmark, ${name}, 50 clients, pipelines of ${pipeline}`,
          measure: () => rate(args),
        })
      }
    }
  }
  const requests = requestsOf(users(10_000), 2 ** 16)
  const running = await run([emptyScript], server, { limit: 1, seconds: 1 })
  for (const inFlight of IN_FLIGHTS) {
    for (const engine of running) {
      contestants.push({
        name: `ioredis, an empty script, ${inFlight} in flight`,
        measure: () => decideMany(engine, requests, inFlight, plan.seconds),
      })
    }
  }
  const results = await interleave(contestants, plan.rounds)
  await end(running)
  const references = results.map(({ name, values }): Reference => {
    return { what: name, measured: spread(values.map((value) => value / 1000)), unit: 'k/s' }
  })
  return {
    findings: [],
    tables: [tableOf('What Redis and its client can do when nothing is decided', references)],
    charts: {},
  }
}

async function hasBenchmark(): Promise<boolean> {
  const found = await execute('redis-benchmark', ['--version']).catch(() => undefined)
  if (found === undefined) console.log('redis-benchmark is not installed: its rows are left out')
  return found !== undefined
}

/** Commands a second. */
async function rate(args: readonly string[]): Promise<number> {
  const { stdout } = await execute('redis-benchmark', args)
  const line = stdout.trim().split('\n').at(-1) ?? ''
  const [, perSecond] = /^"[^"]*","([\d.]+)"/.exec(line) ?? []
  if (perSecond === undefined) throw new Error(`redis-benchmark: expected a line of CSV, received ${line}`)
  return Number(perSecond)
}
