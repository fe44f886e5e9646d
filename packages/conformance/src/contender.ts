import { Redis } from 'ioredis'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'

/**
 * One of several processes that want the same key:
 *   node contender.js PORT LIMIT WINDOW_MS DURATION_MS
 * Prints, as JSON, the `at` of each admission, the number of refusals, and what failed.
 */
const [port, limit, window, duration] = process.argv.slice(2).map(Number) as [number, number, number, number]
const IN_FLIGHT = 16

const client = new Redis(port, '127.0.0.1', { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })
const limiter = createLimiter({ name: 'contended', limit, window, store: redisStore(client, { guarded: false }) })
const admitted: number[] = []
const failures: string[] = []
let refused = 0
const end = Date.now() + duration

async function contend(): Promise<void> {
  while (Date.now() < end) {
    try {
      const decision = await limiter.limit('one-key')
      if (decision.allowed) admitted.push(decision.at)
      else refused++
    } catch (error) {
      failures.push(String(error))
      return
    }
  }
}

await Promise.all(Array.from({ length: IN_FLIGHT }, contend))
client.disconnect()
process.stdout.write(JSON.stringify({ admitted, refused, failures }))
