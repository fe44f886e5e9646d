/**
 * What the service costs beside a server of the same kind that answers a constant: gRPC beside @grpc/grpc-js, HTTP beside
 * fastify, each a process of its own, in turn. `node bench/dist/service-speed.js [requests] [rounds]`; needs h2load and
 * redis-server.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { startRedis } from './redis-server.ts'
import { interleave, ratio, type Series, spread } from './rounds.ts'
import { checkRpc, load, type Protocol } from './service-load.ts'

const BARE = fileURLToPath(new URL('bare-server.js', import.meta.url))
const SERVICE = fileURLToPath(new URL('../../packages/server/dist/main.js', import.meta.url))
const RULES =
  'store: { deadlineMs: 2000 }\nrules:\n  - { name: per-user, key: [domain, user], limit: 1000000000, window: 1m }\n'
const LIMITS =
  'domain: shop\ndescriptors:\n  - { key: user, rate_limit: { unit: minute, requests_per_unit: 1000000000 } }\n'

const [requests = 20_000, rounds = 5] = process.argv.slice(2).map(Number)
const folder = await mkdtemp(join(tmpdir(), 'tidegate-speed-'))
const redis = await startRedis()
const servers: ChildProcess[] = []
try {
  await writeFile(join(folder, 'rules.yaml'), RULES)
  await writeFile(join(folder, 'limits.yaml'), LIMITS)
  const inRedis = ['--redis', `redis://127.0.0.1:${redis.port}/`]
  const byLimits = ['--ratelimit-config', 'limits.yaml']
  await compare('grpc', { memory: [], Redis: inRedis, 'Redis, envoyproxy/ratelimit limits': [...inRedis, ...byLimits] })
  await compare('http', { memory: [], Redis: inRedis })
} finally {
  for (const server of servers) server.kill('SIGKILL')
  await redis.stop()
  await rm(folder, { recursive: true })
}

/** Prints requests per second of time and of the processor, and both relative to the bare server. */
async function compare(protocol: Protocol, kinds: Record<string, string[]>): Promise<void> {
  const started = [
    { name: `${protocol}, a constant`, ...(await startBare(protocol)) },
    ...(await Promise.all(
      Object.entries(kinds).map(async ([name, flags]) => ({
        name: `${protocol}, ${name}`,
        ...(await startServiceOf(protocol, flags)),
      })),
    )),
  ]
  if (protocol === 'grpc') for (const { port } of started) await checkRpc(port)
  const perSecond = started.map((): number[] => [])
  const contestants = started.map(({ name, port, pid }, i) => ({
    name,
    measure: async () => {
      const served = await load(protocol, folder, port, pid, requests)
      perSecond[i]?.push(served.perSecond)
      return served.perProcessorSecond
    },
  }))
  const results = await interleave(contestants, rounds)
  const bare = results[0] as Series
  const [, ...bareRates] = perSecond[0] ?? []
  for (const [i, series] of results.entries()) {
    const [, ...values] = perSecond[i] ?? []
    const rates = { name: series.name, values }
    const byProcessor = ratio(series, bare).median
    const cells = [
      `${(1e6 / spread(series.values).median).toFixed(1)} us of the processor a request`,
      `${byProcessor.toFixed(2)}x the requests for it (${(1 / byProcessor).toFixed(2)}x its cost)`,
      `${(spread(values).median / 1000).toFixed(1)}k/s`,
      `${ratio(rates, { name: bare.name, values: bareRates }).median.toFixed(2)}x`,
    ]
    console.log(`${series.name}: ${cells.join(', ')}`)
  }
}

async function startBare(protocol: Protocol): Promise<{ port: number; pid: number }> {
  const server = spawn(process.execPath, [BARE, protocol], { stdio: ['ignore', 'pipe', 'inherit'] })
  servers.push(server)
  const [line] = (await once(createInterface(server.stdout as Readable), 'line')) as [string]
  return { port: Number(line), pid: server.pid as number }
}

async function startServiceOf(protocol: Protocol, flags: string[]): Promise<{ port: number; pid: number }> {
  const ports = ['--http', '0', '--grpc', protocol === 'grpc' ? '0' : 'off']
  const args = [SERVICE, 'serve', '--config', 'rules.yaml', '--log-level', 'warn', ...ports, ...flags]
  const server = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'inherit', 'pipe'] })
  servers.push(server)
  const wanted = protocol === 'grpc' ? /gRPC on .*:(\d+)/ : /listening on .*:(\d+)/
  for await (const line of createInterface(server.stderr as Readable)) {
    const [, port] = wanted.exec(line) ?? []
    if (port !== undefined) return { port: Number(port), pid: server.pid as number }
  }
  throw new Error('the service did not start')
}
