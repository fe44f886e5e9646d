import * as fc from 'fast-check'
import { createGate, type Descriptor, type Gate, memoryStore } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'

const RUNS = 1500

/** A bucket that some requests fill at another rate: by an override, or by a limit of their own. */
const rules = fc.record({
  limit: fc.constantFrom(3, 7, 20),
  window: fc.constantFrom(20, 200, 1000),
  capacity: fc.constantFrom(undefined, 15),
  other: fc.constantFrom({ limit: 12 }, { limit: 5, capacity: 15 }, { capacity: 40 }, { refill: 9 }),
})

const step = fc.record({
  move: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: 30 }) },
    { weight: 2, arbitrary: fc.constantFrom(-3, -500_000, 500_000) },
  ),
  op: fc.constantFrom('limit' as const, 'limit' as const, 'peek' as const, 'refund' as const, 'settle' as const),
  cost: fc.integer({ min: 0, max: 12 }),
  other: fc.boolean(),
})

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

// The kind of fault: what is left of a token is counted in the units of one rate, and read in those of another.
describeRedis('a token bucket of two rates', (redis) => {
  test('memory and Redis agree in every field, through refunds and clocks that come right', {
    timeout: 120_000,
  }, async () => {
    const agreeing = fc.asyncProperty(
      rules,
      fc.array(step, { minLength: 1, maxLength: 30 }),
      async ({ other, capacity, ...limit }, steps) => {
        await redis.client.flushall()
        let now = 1_000_000_000
        const clock = () => now
        const bucket = { name: 'bucket', key: ['user'], algorithm: 'token-bucket', ...limit } as const
        const gates = [memoryStore({ clock }), redisStore(redis.client, { clock, guarded: false })].map((store) =>
          createGate({
            rules: [{ ...bucket, ...(capacity && { capacity }), overrides: [{ plan: 'other', ...other }] }],
            store,
          }),
        )
        for (const one of steps) {
          now += one.move
          const [ours, theirs] = await Promise.all(gates.map((gate) => take(gate, one)))
          expect(theirs).toEqual(ours)
        }
      },
    )
    await fc.assert(agreeing, { numRuns: RUNS, seed: 20261201 })
  })
})

async function take(gate: Gate, { op, cost, other }: Step): Promise<unknown> {
  const descriptor: Descriptor = other ? { user: 'u', plan: 'other' } : { user: 'u' }
  if (op === 'refund') return [...(await gate.refund(descriptor, { cost }))]
  if (op !== 'settle') return gate[op](descriptor, { cost })
  const { id } = await gate.reserve(descriptor, { cost: cost + 1, id: 'r', expiresIn: 1000 })
  return id === null
    ? gate.peek(descriptor)
    : [await gate.settle(descriptor, id, { cost: 12 - cost }), await gate.peek(descriptor)]
}
