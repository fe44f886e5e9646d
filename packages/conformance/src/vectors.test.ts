import { createGate, type Gate } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type StoreUnderTest, storeKinds } from './stores.ts'
import { readVectors, rulesOf, type VectorStep } from './vectors.ts'

const vectors = readVectors()

test('the vectors are there', () => expect(vectors.length).toBeGreaterThanOrEqual(35))

for (const kind of storeKinds) {
  describe.skipIf(kind.skipped !== undefined)(`vectors: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    test.each(vectors)('$name', async (vector) => {
      let now = 0
      const gate = createGate({ rules: rulesOf(vector), store: await under.open(() => now) })
      for (const [i, step] of vector.steps.entries()) {
        now = step.at
        for (let time = 0; time < (step.times ?? 1); time++) await take(gate, step, `step ${i + 1}, time ${time + 1}`)
      }
    })
  })
}

async function take(gate: Gate, step: VectorStep, where: string): Promise<void> {
  const descriptor = step.descriptor ?? { key: step.key ?? 'k' }
  const answer = ask(gate, step, descriptor)
  if (step.error !== undefined) {
    await expect(answer, where).rejects.toMatchObject({ code: step.error })
    return
  }
  const given = await answer
  if (typeof step.expect === 'object') expect(given, where).toMatchObject(step.expect as object)
  else if (step.expect !== undefined) expect(given, where).toBe(step.expect)
}

async function ask(gate: Gate, step: VectorStep, descriptor: Record<string, string>): Promise<unknown> {
  const { op = 'limit', cost, id = '' } = step
  const options = { ...(cost !== undefined && { cost }), ...(id !== '' && { id }) }
  if (op === 'renew' || op === 'release') return gate[op](descriptor, id)
  if (op === 'reset' || op === 'entries') return gate[op](descriptor)
  if (op === 'refund') return Object.fromEntries(await gate.refund(descriptor, options))
  return gate[op](descriptor, options)
}
