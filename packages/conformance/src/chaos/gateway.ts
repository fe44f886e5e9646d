import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'

/**
 * One of several gateways that share the slots of one limit, until it is killed:
 *   node gateway.js PORT NAME LIMIT LEASE_MS
 * Prints, every 100 ms, a line of JSON: `{ admitted, local, errors, instances }`. The ids of its leases begin with its name.
 */
const [port, name, limit, leaseMs] = process.argv.slice(2) as [string, string, string, string]
const WORKERS = 4
const HOLD_MS = 20

const client = new Redis(Number(port), '127.0.0.1', {
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
})
client.on('error', () => undefined)
// More processes than cores: the deadline is not what is looked at here.
const store = redisStore(client, { deadlineMs: 5000 })
const limiter = createLimiter({
  name: 'slots',
  algorithm: 'concurrency',
  limit: Number(limit),
  window: Number(leaseMs),
  store,
})
const seen = { admitted: 0, local: 0, errors: 0 }
let lease = 0

async function work(): Promise<never> {
  for (;;) {
    try {
      const id = `${name}-${lease++}`
      const { allowed, source } = await limiter.limit('k', { id })
      if (allowed) {
        seen.admitted++
        if (source === 'local') seen.local++
        await sleep(HOLD_MS)
        await limiter.release('k', id)
      }
    } catch {
      seen.errors++
    }
    await sleep(1)
  }
}

setInterval(() => {
  process.stdout.write(`${JSON.stringify({ ...seen, instances: store.guardState().instances })}\n`)
}, 100)
await Promise.all(Array.from({ length: WORKERS }, work))
