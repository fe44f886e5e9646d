import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { freePort, startTidegate } from '@tidegate/conformance/services'
import { endsWithUs } from '../children.ts'
import { decideMany, end, type Running, run } from '../engines/running.ts'
import { exact } from '../engines/tidegate.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { figure, range, scaled } from '../report/figures.ts'
import type { Outcome } from '../report/outcome.ts'
import { requestsOf, users } from '../requests.ts'
import { type Contestant, interleave, ratio, type Series, spread } from '../rounds.ts'
import { askGrpc, rateLimitRequest } from './grpc-load.ts'
import { ask, post } from './http-load.ts'
import { processorTime } from './processor-time.ts'

const BARE = fileURLToPath(new URL('bare-server.js', import.meta.url))
const QUOTA = { limit: 1000, seconds: 60 }
/** No decision falls back: what is measured is Redis. */
const RULES = `
store: { deadlineMs: 60000 }
rules:
  - { name: per-user, key: [user], limit: 1000, window: 1m }
`
const [CONNECTIONS, BATCH] = [64, 100]

/** The service over HTTP and gRPC, beside servers of the same libraries that answer a constant. */
export async function measureService(redis: RedisServer, plan: Plan): Promise<Outcome> {
  const names = requestsOf(users(10_000), 2 ** 14)
  const messages = {
    http: names.map((user) => post('/v1/limit', { descriptor: { user } })),
    grpc: names.map((user) => rateLimitRequest('bench', 'user', user)),
    batches: batchesOf(names).map((checks) => post('/v1/limit/batch', { checks })),
  }
  const grpc = [await freePort(), await freePort()] as const
  const counted = ['--redis', `redis://127.0.0.1:${redis.port}/14`, '--grpc', String(grpc[0]), '--log-level', 'error']
  const service = await startTidegate(RULES, counted)
  const inMemory = await startTidegate(RULES, ['--grpc', String(grpc[1]), '--log-level', 'error'])
  for (const one of [service, inMemory]) endsWithUs(one.process)
  const bare = { http: await startBare('http'), grpc: await startBare('grpc') }
  try {
    const [library] = (await run([exact], redis, QUOTA)) as [Running]
    const seconds = 2 * plan.seconds
    const http = (port: number) => ask(port, seconds, CONNECTIONS, messages.http)
    const rpc = (port: number) => askGrpc(port, seconds, messages.grpc)
    const [servicePid, memoryPid] = [service.process.pid, inMemory.process.pid] as [number, number]
    const contestants: Contestant[] = [
      byProcessor('HTTP, `POST /v1/limit` with Redis', servicePid, () => http(service.port)),
      byProcessor('HTTP, Fastify that answers a constant', bare.http.pid, () => http(bare.http.port)),
      byProcessor('gRPC, ShouldRateLimit with Redis', servicePid, () => rpc(grpc[0])),
      byProcessor('gRPC, ShouldRateLimit in memory', memoryPid, () => rpc(grpc[1])),
      byProcessor('gRPC, @grpc/grpc-js that answers a constant', bare.grpc.pid, () => rpc(bare.grpc.port)),
      {
        name: 'HTTP, decisions in batches of 100 with Redis',
        measure: async () => {
          const start = performance.now()
          const batches = await ask(service.port, seconds, 8, messages.batches)
          return (batches * BATCH * 1000) / (performance.now() - start)
        },
      },
      {
        name: 'the library alone with Redis, 512 in flight',
        measure: () => decideMany(library, names, 512, plan.seconds),
      },
    ]
    const results = await interleave(contestants, plan.rounds)
    await end([library])
    const [ours, constant, rpcs, , constantRpcs, batched, alone] = results as [Series, ...Series[]] as Series[]
    // What takes twice the processor answers half as many in its second.
    return {
      findings: [
        { target: 'httpService', measured: ratio(constant as Series, ours as Series) },
        { target: 'grpcService', measured: ratio(rpcs as Series, constantRpcs as Series) },
        { target: 'httpBatches', measured: ratio(batched as Series, alone as Series) },
      ],
      tables: [
        {
          title: 'The service: requests of each second of its processor; decisions of each second that passes',
          head: ['what', 'k/s', 'least to most'],
          rows: results.map(({ name, values }) => {
            const rate = scaled(spread(values), 1 / 1000)
            return [name, figure(rate.median), range(rate)]
          }),
        },
      ],
      charts: {},
    }
  } finally {
    for (const { child } of Object.values(bare)) child.kill()
    await service.stop()
    await inMemory.stop()
  }
}

/** Requests for each second of the processor that the server has used. */
function byProcessor(name: string, pid: number, askAll: () => Promise<number>): Contestant {
  const measure = async () => {
    const before = await processorTime(pid)
    const requests = await askAll()
    return (requests / ((await processorTime(pid)) - before)) * 1_000_000
  }
  return { name, measure }
}

function batchesOf(names: readonly string[]): object[][] {
  return Array.from({ length: Math.floor(names.length / BATCH) }, (_, i) => {
    return names.slice(i * BATCH, (i + 1) * BATCH).map((user) => ({ descriptor: { user } }))
  })
}

interface Bare {
  readonly child: ChildProcess
  readonly pid: number
  readonly port: number
}

async function startBare(kind: 'http' | 'grpc'): Promise<Bare> {
  const child = spawn(process.execPath, [BARE, kind], { stdio: ['ignore', 'pipe', 'inherit'] })
  endsWithUs(child)
  const [port] = (await once(createInterface(child.stdout as Readable), 'line')) as [string]
  return { child, pid: child.pid as number, port: Number(port) }
}
