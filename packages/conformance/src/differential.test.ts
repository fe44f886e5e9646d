import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { compare } from './differential.ts'
import { sequences } from './sequence.ts'
import { clusterKinds, type StoreUnderTest, storeKinds } from './stores.ts'

/** `long-run.ts` takes the same road for as long as one likes. */
const LONGEST = 260

for (const kind of [...storeKinds, ...clusterKinds]) {
  describe.skipIf(kind.skipped !== undefined)(`differential: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    test('memory, oracle and store agree on every field of random requests', { timeout: 300_000 }, async () => {
      let steps = 0
      const agreeing = fc.asyncProperty(sequences(LONGEST), async (sequence) => {
        await compare(sequence, (clock) => under.open(clock))
        steps += sequence.steps.length
      })
      while (steps < kind.steps) await fc.assert(agreeing, { numRuns: 25 })
    })
  })
}
