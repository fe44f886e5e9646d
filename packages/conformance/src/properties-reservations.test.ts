import * as fc from 'fast-check'
import type { AlgorithmSpelling } from 'tidegate'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { compare, type Tally } from './differential.ts'
import { randomLimits } from './quotas.ts'
import { reservingSequences } from './sequence.ts'
import { type StoreUnderTest, storeKinds } from './stores.ts'

const ALGORITHMS = Object.keys(randomLimits) as AlgorithmSpelling[]

/** One store of each kind of engine: the clients are compared elsewhere. */
const engines = storeKinds.filter(({ name }) => name === 'memory' || name === 'Redis through ioredis')

for (const kind of engines) {
  describe.skipIf(kind.skipped !== undefined)(`reservations: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    // The kinds of fault: settled twice, settled after the expiry, an excess that is lost or that the limit cuts off, what
    // a dead holder has reserved given back, and a give-back to which somebody else's admission falls victim.
    test.each(ALGORITHMS)(
      '%s: memory, the model and the store agree after every step',
      { timeout: 120_000 },
      async (algorithm) => {
        const tally: Required<Tally> = { steps: 0, allowed: 0, refused: 0, charged: 0, refunded: 0, unsettled: 0 }
        const agreeing = fc.asyncProperty(reservingSequences(150, algorithm), (sequence) => {
          return compare(sequence, (clock) => under.open(clock), tally)
        })
        // Until everything has happened often enough: a bucket that fills quickly seldom has anything to take back.
        while (Math.min(...Object.values(tally)) < 20) await fc.assert(agreeing, { numRuns: 40 })
      },
    )
  })
}
