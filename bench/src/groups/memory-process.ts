import { memoryEngines } from '../engines/memory.ts'
import type { MemoryEngine } from '../engines/memory-engine.ts'
import { checkReadings } from '../reading.ts'
import { requestsOf, users } from '../requests.ts'

/**
 * One engine in a process of its own: in one heap, each would pay for collecting what the others keep.
 * Answers each number of seconds with the decisions per second that it made in them.
 */
const [engine = '', keyCount] = process.argv.slice(2)
/** Requests in random order, made before anything is measured. */
const REQUESTS = 2 ** 19

const keys = users(Number(keyCount))
const requests = keys.length === 1 ? keys : requestsOf(keys, REQUESTS)
const work = await (memoryEngines[engine] as MemoryEngine)(requests)

process.on('message', async (seconds: number) => {
  const start = performance.now()
  const decisions = await work(requests, seconds)
  const elapsed = performance.now() - start
  checkReadings()
  process.send?.((decisions / elapsed) * 1000)
})
// The parent is gone, or has what it wanted.
process.on('disconnect', () => process.exit())
process.send?.('ready')
