import { Redis } from 'ioredis'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'

/**
 * One of several processes that are all admitted to one sliding log, by a clock that stands still:
 *   node log-contender.js PORT LIMIT REQUESTS TIME
 * Every request has the same id. Prints, as JSON, how many were admitted and what failed.
 */
const [port, limit, requests, time] = process.argv.slice(2).map(Number) as [number, number, number, number]
const AT_ONCE = 1000

const client = new Redis(port, '127.0.0.1', { autoResendUnfulfilledCommands: false })
const store = redisStore(client, { guarded: false, clock: () => time })
const limiter = createLimiter({ name: 'log', algorithm: 'sliding-log', limit, window: '1h', store })
const failures: string[] = []
let admitted = 0

for (let sent = 0; sent < requests; sent += AT_ONCE) {
  const round = Array.from({ length: AT_ONCE }, () => limiter.limit('one-key', { id: 'same' }))
  for (const answer of await Promise.allSettled(round)) {
    if (answer.status === 'rejected') failures.push(String(answer.reason))
    else if (answer.value.allowed) admitted++
  }
}
client.disconnect()
process.stdout.write(JSON.stringify({ admitted, failures: failures.slice(0, 5) }))
