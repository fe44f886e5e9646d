import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { endsWithUs } from '../children.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { figure, range, scaled } from '../report/figures.ts'
import type { Finding, Outcome, Table } from '../report/outcome.ts'
import type { TargetName } from '../report/targets.ts'
import { best, interleave, ratio, type Series, spread } from '../rounds.ts'
import { ask } from './http-load.ts'

const SERVER = fileURLToPath(new URL('middleware-server.js', import.meta.url))
const CONNECTIONS = 64

/** The limiters of a framework, ours first. */
const FRAMEWORKS = {
  express: ['tidegate', 'express-rate-limit', 'rate-limiter-flexible'],
  fastify: ['tidegate', '@fastify/rate-limit'],
} as const

type Framework = keyof typeof FRAMEWORKS

/** Ours in memory vs none, in memory vs the cheapest peer, in Redis vs the cheapest peer. */
const TARGETS: Record<Framework, readonly [TargetName, TargetName, TargetName]> = {
  express: ['expressMemory', 'expressMemoryPeer', 'expressRedis'],
  fastify: ['fastifyMemory', 'fastifyMemoryPeer', 'fastifyRedis'],
}

/**
 * What a limiter costs a server: each is a process of its own, and asked in turn with the others. Figures are requests for
 * each second of the processor that the server has used, which is what a busy server can answer, and which others that
 * work on the same cores change less than they do the time that passes.
 */
export async function measureMiddleware(redis: RedisServer, plan: Plan): Promise<Outcome> {
  const findings: Finding[] = []
  const tables: Table[] = []
  for (const framework of ['express', 'fastify'] as const) {
    const [none, memory, inRedis] = await measure(framework, redis, plan)
    const [ours, ...peers] = memory as [Series, ...Series[]]
    const [oursInRedis, ...peersInRedis] = inRedis as [Series, ...Series[]]
    const [cheapest, cheapestInRedis] = [best(peers, 'higher'), best(peersInRedis, 'higher')]
    const [vsNone, vsPeer, vsPeerInRedis] = TARGETS[framework]
    findings.push(
      { target: vsNone, measured: ratio(ours, none) },
      { target: vsPeer, measured: ratio(ours, cheapest), against: nameOf(cheapest) },
      { target: vsPeerInRedis, measured: ratio(oursInRedis, cheapestInRedis), against: nameOf(cheapestInRedis) },
    )
    const rows = [none, ...memory, ...inRedis].map((series) => {
      const [rate, share] = [scaled(spread(series.values), 1 / 1000), ratio(series, none)]
      return [series.name, figure(rate.median), range(rate), figure(share.median), range(share)]
    })
    const head = ['limiter', 'k requests per processor second', 'least to most', 'of none', 'least to most']
    tables.push({ title: `Middleware of ${framework}`, head, rows })
  }
  return { findings, tables, charts: {} }
}

function nameOf({ name }: Series): string {
  return name.replace(/ in .*/, '')
}

/** Without a limiter, with each in memory, with each in Redis. */
async function measure(framework: Framework, redis: RedisServer, plan: Plan): Promise<[Series, Series[], Series[]]> {
  const limiters = FRAMEWORKS[framework]
  const kinds = [['none'], ...limiters.map((name) => [name]), ...limiters.map((name) => [name, String(redis.port)])]
  const servers: ChildProcess[] = []
  try {
    const contestants = []
    for (const [name = '', port] of kinds) {
      const args = port === undefined ? [name] : [name, port]
      const child = spawn(process.execPath, [SERVER, framework, ...args], {
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      })
      servers.push(child)
      endsWithUs(child)
      const [listening] = (await once(createInterface(child.stdout as Readable), 'line')) as [string]
      const label = name === 'none' ? 'no limiter' : `${name} in ${port === undefined ? 'memory' : 'Redis'}`
      contestants.push({ name: label, measure: () => requestsPerSecond(child, Number(listening), 2 * plan.seconds) })
    }
    const [none, ...others] = await interleave(contestants, plan.rounds)
    return [none as Series, others.slice(0, limiters.length), others.slice(limiters.length)]
  } finally {
    for (const child of servers) child.kill()
  }
}

/** By the processor's time of the server. */
async function requestsPerSecond(server: ChildProcess, port: number, seconds: number): Promise<number> {
  const before = await processorTime(server)
  const requests = await ask(port, seconds, CONNECTIONS)
  return (requests / ((await processorTime(server)) - before)) * 1_000_000
}

/** Microseconds that a server has computed until now. */
async function processorTime(server: ChildProcess): Promise<number> {
  const answer = once(server, 'message')
  server.send('processor time')
  const [{ user, system }] = (await answer) as [NodeJS.CpuUsage]
  return user + system
}
