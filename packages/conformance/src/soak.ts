import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import { createGate } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { startRedis } from './services/redis.ts'

/**
 * A gate on a real Redis for as long as one likes, at half the rate that it can do here, with keys that come and go:
 *   npm run soak -- --minutes 10
 * Prints memory every 30 s (`--every` seconds). Ends with 1 where it has grown, or a request was not decided by Redis.
 */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, every: { type: 'string', default: '30' } },
})
const MINUTES = Number(values.minutes)
const EVERY_MS = Number(values.every) * 1000
const PEAK_MS = 5_000
const TICK_MS = 10
/** How many keys there are in a minute; each minute has its own, so that what is kept of old ones would be seen. */
const KEYS = 50_000
/** What heap may have grown by from the second quarter to the last, as a share of it and in bytes: noise of the collector. */
const GROWTH = 0.1
const GROWTH_BYTES = 8 * 2 ** 20

const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined)
const server = await startRedis()
const client = new Redis(server.port, '127.0.0.1', {
  ...{ autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, enableOfflineQueue: false },
})
client.on('error', (error) => console.error(error.message))
await new Promise<void>((resolve) => client.once('ready', resolve))
const store = redisStore(client, { deadlineMs: 1000 })
const gate = createGate({
  store,
  rules: [
    { name: 'burst', key: ['user'], limit: 5, window: '1s' },
    { name: 'steady', key: ['user'], limit: 60, window: '1m', algorithm: 'token-bucket' },
  ],
})
const seen = { allowed: 0, refused: 0, cached: 0, elsewhere: 0, errors: 0 }
const ask = async () => {
  const user = `${Math.floor(Date.now() / 60_000)}-${Math.floor(Math.random() ** 3 * KEYS)}`
  try {
    const { allowed, source } = await gate.limit({ user })
    if (source === 'denied-cache') seen.cached++
    else if (source !== 'store') seen.elsewhere++
    else if (allowed) seen.allowed++
    else seen.refused++
  } catch {
    seen.errors++
  }
}

/** Decisions a second, asked for without pause, many at a time. */
async function peakRate(): Promise<number> {
  const end = performance.now() + PEAK_MS
  let asked = 0
  const work = async () => {
    for (; performance.now() < end; asked++) await ask()
  }
  await Promise.all(Array.from({ length: 512 }, work))
  return (asked / PEAK_MS) * 1000
}

const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1)
const heaps: number[] = []
try {
  const peak = await peakRate()
  const rate = peak / 2
  console.log(`peak ${Math.round(peak)} decisions/s; ${MINUTES} min at ${Math.round(rate)}/s`)
  console.log('seconds  rss MiB  heap MiB  allowed  refused  refused again here  not by Redis  errors')
  const start = performance.now()
  let [asked, reports] = [0, 1]
  const pending = new Set<Promise<void>>()
  for (let elapsed = 0; elapsed < MINUTES * 60_000; elapsed = performance.now() - start) {
    for (const due = (elapsed / 1000) * rate; asked < due; asked++) {
      const one = ask().finally(() => pending.delete(one))
      pending.add(one)
    }
    if (elapsed >= reports * EVERY_MS) {
      report(elapsed)
      reports++
    }
    await sleep(TICK_MS)
  }
  await Promise.all(pending)
  report(performance.now() - start)
} finally {
  await gate.close()
  await store.close()
  client.disconnect()
  await server.stop('SIGKILL')
}

function report(elapsedMs: number): void {
  collect()
  const { rss, heapUsed } = process.memoryUsage()
  heaps.push(heapUsed)
  const { allowed, refused, cached, elsewhere, errors } = seen
  const figures = [
    Math.round(elapsedMs / 1000),
    mebibytes(rss),
    mebibytes(heapUsed),
    allowed,
    refused,
    cached,
    elsewhere,
    errors,
  ]
  console.log(figures.join('  '))
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length
const quarter = Math.max(1, Math.floor(heaps.length / 4))
const [early, late] = [mean(heaps.slice(quarter, 2 * quarter)), mean(heaps.slice(-quarter))]
const isFlat = late - early <= Math.max(early * GROWTH, GROWTH_BYTES)
console.log(
  `heap ${mebibytes(early)} MiB in the second quarter, ${mebibytes(late)} MiB in the last: ${isFlat ? 'flat' : 'it has GROWN'}`,
)
if (!isFlat || seen.elsewhere + seen.errors > 0) process.exitCode = 1
