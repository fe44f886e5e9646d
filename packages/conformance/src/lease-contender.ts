import { appendFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'

/**
 * One of several processes that lease permits of the same keys, and can be killed at any time:
 *   node lease-contender.js PORT FILE KEYS OPTIONS
 * Appends to the file a line for each admission, `key from to source`: it was decided between the two times, ms since the epoch.
 */
const [port, file, keys, options] = process.argv.slice(2) as [string, string, string, string]
const IN_FLIGHT = 8

const client = new Redis(Number(port), '127.0.0.1', { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })
const store = redisStore(client, { guarded: false, instances: 8 })
const limiter = createLimiter({ name: 'leased', mode: 'leased', ...JSON.parse(options), store })

async function contend(worker: number): Promise<void> {
  for (let i = worker; ; i++) {
    const key = `k${i % Number(keys)}`
    const from = Date.now()
    const { allowed, source, retryAfterMs } = await limiter.limit(key)
    if (allowed) appendFileSync(file, `${key} ${from} ${Date.now()} ${source}\n`)
    // Demand comes and goes, so that permits are held, get old and are given back.
    if (!allowed || Math.random() < 0.02) await pause(Math.min(retryAfterMs ?? 0, 20) + Math.random() * 60)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

await Promise.all(Array.from({ length: IN_FLIGHT }, (_, worker) => contend(worker)))
