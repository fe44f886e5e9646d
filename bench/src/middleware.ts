import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Outcome, Reference } from './findings.ts'
import { ask } from './http-load.ts'
import type { Plan } from './plan.ts'
import type { RedisServer } from './redis-server.ts'
import { interleave, ratio, type Series, type Spread, spread } from './rounds.ts'

const SERVER = fileURLToPath(new URL('middleware-server.js', import.meta.url))
const CONNECTIONS = 64

/** The limiters of a framework, ours first after none, and how many requests take about two seconds. */
const FRAMEWORKS = {
  express: { limiters: ['tidegate', 'express-rate-limit', 'rate-limiter-flexible'], requests: 16_000 },
  fastify: { limiters: ['tidegate', '@fastify/rate-limit'], requests: 80_000 },
} as const

type Framework = keyof typeof FRAMEWORKS

/**
 * What a limiter costs a server: each is a process of its own, and asked in turn with the others. Figures are requests for
 * each second of the processor that the server has used, which is what a busy server can answer, and which others that
 * work on the same cores change less than they do the time that passes.
 */
export async function measureMiddleware(redis: RedisServer, plan: Plan): Promise<Outcome> {
  const [express, fastify] = [await measure('express', redis, plan), await measure('fastify', redis, plan)]
  const findings: Outcome['findings'] = [
    { target: 'expressMemory', measured: express.memory },
    { target: 'fastifyMemory', measured: fastify.memory },
    { target: 'expressRedis', measured: express.redis },
    { target: 'fastifyRedis', measured: fastify.redis },
  ]
  return { findings, references: [...express.references, ...fastify.references] }
}

interface Measured {
  /** Ours in memory, relative to none. */
  readonly memory: Spread
  /** Ours in Redis, relative to the peer that is fastest there. */
  readonly redis: Spread
  readonly references: readonly Reference[]
}

async function measure(framework: Framework, redis: RedisServer, plan: Plan): Promise<Measured> {
  const { limiters, requests } = FRAMEWORKS[framework]
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
      const [listening] = (await once(createInterface(child.stdout as Readable), 'line')) as [string]
      const many = Math.round(requests * plan.scale)
      const label = `${framework}, ${name === 'none' ? 'no limiter' : `${name} in ${port === undefined ? 'memory' : 'Redis'}`}`
      contestants.push({ name: label, measure: () => requestsPerSecond(child, Number(listening), many) })
    }
    return compare(await interleave(contestants, plan.rounds), limiters.length)
  } finally {
    for (const child of servers) child.kill()
  }
}

/** By the processor's time of the server. */
async function requestsPerSecond(server: ChildProcess, port: number, requests: number): Promise<number> {
  const before = await processorTime(server)
  await ask(port, requests, CONNECTIONS)
  return (requests / ((await processorTime(server)) - before)) * 1_000_000
}

/** Microseconds that a server has computed until now. */
async function processorTime(server: ChildProcess): Promise<number> {
  const answer = once(server, 'message')
  server.send('processor time')
  const [{ user, system }] = (await answer) as [NodeJS.CpuUsage]
  return user + system
}

function compare(results: readonly Series[], limiters: number): Measured {
  const [none, ...others] = results as [Series, ...Series[]]
  const [ourMemory, ourRedis] = [others[0] as Series, others[limiters] as Series]
  const peers = others.slice(limiters + 1)
  const fastest = peers.toSorted((a, b) => spread(b.values).median - spread(a.values).median)[0] as Series
  const references = [
    ...others.map(({ name }, i): Reference => {
      return { what: `${name}, vs none`, measured: ratio(others[i] as Series, none), unit: 'x' }
    }),
    ...results.map(({ name, values }): Reference => {
      return { what: name, measured: spread(values.map((value) => value / 1000)), unit: 'k/s' }
    }),
  ]
  return { memory: ratio(ourMemory, none), redis: ratio(ourRedis, fastest), references }
}
