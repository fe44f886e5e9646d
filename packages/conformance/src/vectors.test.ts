import { createGate, type Decision, type Gate } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clusterKinds, type StoreUnderTest, storeKinds } from './stores.ts'
import { readVectors, rulesOf, type VectorStep } from './vectors.ts'

const vectors = readVectors()

test('the vectors are there', () => expect(vectors.length).toBeGreaterThanOrEqual(35))

for (const kind of [...storeKinds, ...clusterKinds]) {
  describe.skipIf(kind.skipped !== undefined)(`vectors: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    test.each(vectors)('$name', async (vector) => {
      let now = 0
      const gate = createGate({ rules: rulesOf(vector), store: await under.open(() => now) })
      const decisions: Decision[] = []
      for (const [i, step] of vector.steps.entries()) {
        now = step.at
        for (let time = 0; time < (step.times ?? 1); time++) {
          const where = `step ${i + 1}, time ${time + 1}`
          const answer = take(gate, step, decisions)
          if (step.error !== undefined) await expect(answer, where).rejects.toMatchObject({ code: step.error })
          else {
            const given = await answer
            decisions[i + 1] = given as Decision
            check(given, step.expect, where)
          }
        }
      }
    })
  })
}

function check(given: unknown, expected: unknown, where: string): void {
  if (expected === undefined) return
  if (typeof expected === 'object') expect(given, where).toMatchObject(expected as object)
  else expect(given, where).toBe(expected)
}

/** The answer to one step: a decision, or what the operation gives; a refund as an object of rules. */
async function take(gate: Gate, step: VectorStep, decisions: readonly Decision[]): Promise<unknown> {
  const descriptor = step.descriptor ?? { key: step.key ?? 'k' }
  const { op = 'limit', cost, id, expiresIn } = step
  const rule = step.rule === undefined ? {} : { rule: step.rule }
  const request = { ...(cost !== undefined && { cost }), ...(id !== undefined && { id }) }
  if (op === 'limit' || op === 'peek') return gate[op](descriptor, request)
  if (op === 'reset') return gate.reset(descriptor)
  if (op === 'block') return gate.block(descriptor, step.duration as number, rule)
  if (op === 'unblock' || op === 'entries') return gate[op](descriptor, rule)
  if (op === 'renew' || op === 'release') return gate[op](descriptor, id as string)
  if (op === 'reserve') {
    return gate.reserve(descriptor, { ...request, cost: cost as number, ...(expiresIn !== undefined && { expiresIn }) })
  }
  if (op === 'settle') return gate.settle(descriptor, id as string, { cost: cost as number })
  if (op === 'cancel') return gate.cancel(descriptor, id as string)
  const decision = step.of === undefined ? undefined : decisions[step.of]
  return Object.fromEntries(await gate.refund(descriptor, { ...request, ...(decision && { decision }) }))
}
