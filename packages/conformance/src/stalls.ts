import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createLimiter, memoryStore } from 'tidegate'

/**
 * How long new keys at full speed hold the event loop up, beside a process that does nothing, and one that works as much
 * without a limiter:
 *   npm run stalls -- --seconds 10
 */
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '10' } } })
const RUN_MS = Number(values.seconds) * 1000
const MAX_KEYS = 100_000
/** Decisions between two turns of the event loop: what one turn of a busy server has. */
const TURN = 50

interface Stall {
  readonly what: string
  readonly turns: number
  readonly p999: number
  readonly longest: number
}

/** Works for the time of a run, a turn of the event loop at a time. */
async function measure(what: string, turn: (() => void) | undefined): Promise<Stall> {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  await sleep(100)
  delays.enable()
  let turns = 0
  if (turn === undefined) await sleep(RUN_MS)
  else {
    for (const end = performance.now() + RUN_MS; performance.now() < end; turns++) {
      turn()
      await setImmediate()
    }
  }
  delays.disable()
  return { what, turns, p999: delays.percentile(99.9) / 1e6, longest: delays.max / 1e6 }
}

const store = memoryStore({ maxKeys: MAX_KEYS })
const limiter = createLimiter({ name: 'churn', limit: 5, window: '10s', store })
let key = 0
const churn = () => {
  for (let i = 0; i < TURN; i++) limiter.limitSync(`client-${key++}`)
}
const work = () => {
  for (let i = 0; i < TURN; i++) JSON.parse(JSON.stringify({ key: `client-${i}`, values: [i, i + 1, i + 2] }))
}
const rows = [await measure('idle', undefined), await measure('JSON instead', work), await measure('new keys', churn)]
for (const { what, turns, p999, longest } of rows) {
  const decided = what === 'new keys' ? `, ${Math.round((turns * TURN * 1000) / RUN_MS)} new keys/s` : ''
  console.log(`${what.padEnd(14)} p99.9 ${p999.toFixed(1)} ms, longest ${longest.toFixed(1)} ms${decided}`)
}
const { keys, evicted } = store.stats()
console.log(`${keys} keys held of ${MAX_KEYS} at most, ${evicted} forgotten while they counted`)
await limiter.close()
await store.close()
