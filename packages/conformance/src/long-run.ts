import { parseArgs } from 'node:util'
import * as fc from 'fast-check'
import type { AlgorithmSpelling } from 'tidegate'
import { compare } from './differential.ts'
import { sequences } from './sequence.ts'
import { clusterKinds, storeKinds } from './stores.ts'

/**
 * The differential test for as long as one likes:
 *   npm run build && node packages/conformance/dist/long-run.js --steps 1000000 --seed 1 --store 'Redis through ioredis' --algorithm quota
 * Ends with 1 at the first disagreement, shrunk.
 */
const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    algorithm: { type: 'string' },
    store: { type: 'string', default: 'Redis through ioredis' },
  },
})
const LONGEST = 1000
const SEQUENCES_PER_ROUND = 50

const kinds = [...storeKinds, ...clusterKinds]
const kind = kinds.find(({ name }) => name === values.store)
if (kind === undefined) throw new Error(`--store: expected one of ${kinds.map(({ name }) => name).join(', ')}`)
if (kind.skipped !== undefined) throw new Error(kind.skipped)
const wanted = Number(values.steps)
const under = await kind.start()
let sequencesCompared = 0
const count = { steps: 0, allowed: 0, refused: 0 }
try {
  for (let seed = Number(values.seed); count.steps < wanted; seed++) {
    const agreeing = fc.asyncProperty(
      sequences(LONGEST, values.algorithm as AlgorithmSpelling | undefined),
      async (sequence) => {
        await compare(sequence, (clock) => under.open(clock), count)
        sequencesCompared++
      },
    )
    await fc.assert(agreeing, { numRuns: SEQUENCES_PER_ROUND, seed })
  }
  const { steps, allowed, refused } = count
  console.log(`memory, oracle and ${kind.name}: no disagreement`)
  console.log(
    `seed ${values.seed}: ${steps} steps in ${sequencesCompared} sequences, ${allowed} admitted, ${refused} refused`,
  )
} finally {
  await under.close()
}
