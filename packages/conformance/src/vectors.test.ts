import { createGate, type Gate } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clusterKinds, type StoreUnderTest, storeKinds } from './stores.ts'
import { readVectors, rulesOf, type Vector, type VectorStep } from './vectors.ts'

const vectors = readVectors()

test('the vectors are there', () => expect(vectors.length).toBeGreaterThanOrEqual(35))

for (const kind of [...storeKinds, ...clusterKinds]) {
  describe.skipIf(kind.skipped !== undefined)(`vectors: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    test.each(kind.cluster ? vectors.filter(sharesSlots) : vectors)('$name', async (vector) => {
      let now = 0
      const gate = createGate({ rules: rulesOf(vector), store: await under.open(() => now) })
      for (const [i, step] of vector.steps.entries()) {
        now = step.at
        for (let time = 0; time < (step.times ?? 1); time++) await take(gate, step, `step ${i + 1}, time ${time + 1}`)
      }
    })
  })
}

/** Rules that count by the same dimensions have their keys in one slot, so that one step decides a request. */
function sharesSlots(vector: Vector): boolean {
  const [first, ...others] = rulesOf(vector).map(({ key = [] }) => key.join())
  return others.every((key) => key === first)
}

async function take(gate: Gate, step: VectorStep, where: string): Promise<void> {
  const descriptor = step.descriptor ?? { key: step.key ?? 'k' }
  const { op = 'limit' } = step
  const options = step.cost === undefined ? {} : { cost: step.cost }
  const answer = op === 'reset' ? gate.reset(descriptor) : gate[op](descriptor, options)
  if (step.error !== undefined) {
    await expect(answer, where).rejects.toMatchObject({ code: step.error })
    return
  }
  const given = await answer
  if (step.expect !== undefined) expect(given, where).toMatchObject(step.expect as object)
}
