import { type EngineName, engines } from './memory-engines.ts'
import { checkReadings } from './reading.ts'

/**
 * One engine in a process of its own: in one heap, each would pay for collecting what the others keep.
 * Answers each number of decisions with the decisions per second that it made.
 */
const [engine, keyCount] = process.argv.slice(2)
/** Requests in random order, made before anything is measured. */
const REQUESTS = 2 ** 19

const keys = Array.from({ length: Number(keyCount) }, (_, i) => `user-${String(i).padStart(6, '0')}`)
const requests =
  keys.length === 1
    ? keys
    : Array.from({ length: REQUESTS }, () => keys[Math.floor(Math.random() * keys.length)] as string)
const work = engines[engine as EngineName](requests)

process.on('message', async (decisions: number) => {
  const start = performance.now()
  await work(requests, decisions)
  const elapsed = performance.now() - start
  checkReadings()
  process.send?.((decisions / elapsed) * 1000)
})
// The parent is gone, or has what it wanted.
process.on('disconnect', () => process.exit())
