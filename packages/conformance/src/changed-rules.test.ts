import * as fc from 'fast-check'
import { createGate, type Decision, type Descriptor } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LimitedRule, Verdict } from './oracle/counter.ts'
import { type OracleCheck, RequestOracle } from './oracle/request-oracle.ts'
import { type StoreUnderTest, storeKinds } from './stores.ts'

/** How many changes of the rules each store is taken through. */
const CHANGES = 1000
const CHANGES_PER_RUN = 100

const limit = fc.integer({ min: 0, max: 9 })
const rules: fc.Arbitrary<LimitedRule>[] = [
  of({ name: 'user', key: fc.constant(['user']), limit, window: fc.constantFrom(20, 20, 20, 45) }),
  of({ name: 'coarse', limit, window: fc.constant(30), resolution: fc.constantFrom(5, 5, 5, 10) }),
  of({
    name: 'route',
    key: fc.constant(['route']),
    algorithm: fc.constant('fixed-window'),
    limit,
    window: fc.constant(25),
  }),
  of({
    name: 'bucket',
    algorithm: fc.constant('token-bucket'),
    limit: fc.constant(3),
    capacity: limit,
    window: fc.constant(20),
  }),
  of({
    name: 'log',
    key: fc.constant(['user']),
    algorithm: fc.constant('sliding-log'),
    limit,
    window: fc.constant(40),
  }),
  of({ name: 'counter', algorithm: fc.constant('sliding-counter'), limit, window: fc.constant(20) }),
  of({ name: 'lease', algorithm: fc.constant('concurrency'), limit, window: fc.constant(15) }),
]

function of({ name, ...fields }: { name: string } & Record<string, unknown>): fc.Arbitrary<LimitedRule> {
  const generated: fc.Arbitrary<object> = fc.record(fields as Record<string, fc.Arbitrary<unknown>>)
  const match = fc.constantFrom(undefined, undefined, undefined, { route: '/a' })
  return fc.tuple(generated as fc.Arbitrary<Omit<LimitedRule, 'name'>>, match).map(([one, where]): LimitedRule => {
    return { name, ...one, ...(where && { match: where }) }
  })
}

/** Some of the rules, in any order: others come, go and come back. */
const ruleSet = fc
  .tuple(...rules)
  .chain((all) => fc.shuffledSubarray(all, { minLength: 1 }))
  .filter((all) => all.length < 5)

const request = fc.record({
  descriptor: fc.record({ user: fc.constantFrom('u1', 'u2'), route: fc.constantFrom('/a', '/b') }),
  cost: fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 0, max: 4 }) }),
})
const requests = fc.array(request, { maxLength: 5 })

/** One turn of the event loop: requests, a change while they are on their way, and more of them. */
const turn = fc.record({ after: fc.integer({ min: 0, max: 8 }), before: requests, change: ruleSet, later: requests })
const turns = fc.array(turn, { minLength: CHANGES_PER_RUN, maxLength: CHANGES_PER_RUN })

for (const kind of storeKinds.filter(({ name }) => name === 'memory' || name === 'Redis through ioredis')) {
  describe.skipIf(kind.skipped !== undefined)(`changed rules: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    test('under load: each request is decided by the rules it began with, in every field', {
      timeout: 120_000,
    }, async () => {
      const count = { allowed: 0, refused: 0 }
      const agreeing = fc.asyncProperty(ruleSet, turns, async (first, all) => {
        let now = 1000
        let current = first
        let id = 0
        const gate = createGate({ rules: first, store: await under.open(() => now) })
        const oracle = new RequestOracle()
        const ask = async ({ descriptor, cost }: { descriptor: Descriptor; cost: number }) => {
          const [version, name] = [gate.version, String(id++)]
          const expected = oracle.decide(checksOf(current, descriptor), 'consume', cost, now, name)
          const decision = await gate.limit(descriptor, { cost, id: name })
          expect(figuresOf(decision)).toEqual(expected)
          expect(decision.version).toBe(version)
          count[decision.allowed ? 'allowed' : 'refused']++
        }
        for (const { after, before, change, later } of all) {
          now += after
          const begun = before.map(ask)
          gate.update(change)
          current = change
          await Promise.all([...begun, ...later.map(ask)])
        }
      })
      await fc.assert(agreeing, { numRuns: CHANGES / CHANGES_PER_RUN, seed: 20261130 })
      expect(Math.min(count.allowed, count.refused)).toBeGreaterThan(CHANGES / 2)
    })
  })
}

/** What a request is decided by. A rule counts anew where anything but its limit has changed, and goes on where it was that way before. */
function checksOf(current: readonly LimitedRule[], descriptor: Descriptor): OracleCheck[] {
  return current
    .filter(({ match }) => match === undefined || match['route'] === descriptor['route'])
    .map((rule) => {
      const { name, key = [], window, resolution } = rule
      return {
        rule,
        counter: JSON.stringify([name, window, resolution, key.map((dimension) => descriptor[dimension])]),
      }
    })
}

function figuresOf({ rules: all }: Decision): Verdict[] {
  return all.map(({ allowed, used, retryAfterMs, resetAfterMs, at, reason }): Verdict => {
    return { allowed, used, retryAfterMs, resetAfterMs, at, reason }
  })
}
