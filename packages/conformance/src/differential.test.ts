import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { compare } from './differential.ts'
import { sequences } from './sequence.ts'
import { type StoreUnderTest, storeKinds } from './stores.ts'

/** Together about 50,000 steps; `long-run.ts` takes the same road for as long as one likes. */
const RUNS = 130
const LONGEST = 260

for (const kind of storeKinds) {
  describe.skipIf(kind.skipped !== undefined)(`differential: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    test('memory, oracle and store agree on every field of random requests', { timeout: 300_000 }, async () => {
      const agreeing = fc.asyncProperty(sequences(LONGEST), (sequence) => compare(sequence, (clock) => under.open(clock)))
      await fc.assert(agreeing, { numRuns: RUNS })
    })
  })
}
