import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, loadavg, totalmem } from 'node:os'

/** The packages whose versions decide what is compared. */
const PACKAGES = [
  'ioredis',
  'rate-limiter-flexible',
  'rate-limit-redis',
  '@fastify/rate-limit',
  '@upstash/ratelimit',
  'rolling-rate-limiter',
  'async-ratelimiter',
  'limiter',
  'express-rate-limit',
  '@nestjs/throttler',
  'express',
  'fastify',
]

/** What was measured on, without anything that names the machine. */
export function describeMachine(redis: string): string {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const machine = `${cpus().length} cores, ${memory}, ${process.platform} ${process.arch}`
  const busy = `load average ${loadavg()[2]?.toFixed(1)} (15 minutes, this run included)`
  return `${machine}, ${busy}; Node ${process.versions.node}, Redis ${redis}; ${PACKAGES.map(versionOf).join(', ')}`
}

function versionOf(name: string): string {
  const entry = createRequire(import.meta.url).resolve(name)
  const root = entry.slice(0, entry.lastIndexOf(`/node_modules/${name}/`))
  const { version } = JSON.parse(readFileSync(`${root}/node_modules/${name}/package.json`, 'utf8')) as {
    version: string
  }
  return `${name} ${version}`
}
