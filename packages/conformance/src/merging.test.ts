import * as fc from 'fast-check'
import { createGate, type Gate, type GateOptions, memoryStore } from 'tidegate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clusterKinds, type StoreUnderTest, storeKinds } from './stores.ts'

const START = Date.UTC(2026, 1, 28, 23, 59, 30)

/** Rules whose equal requests are merged, and such as are not, over keys that the requests share. */
const RULES: GateOptions['rules'] = [
  { name: 'window', match: { of: 'window' }, key: ['user'], limit: 7, window: '10s' },
  { name: 'coarse', match: { of: 'coarse' }, key: ['user'], limit: 40, window: '10s', resolution: '1s' },
  { name: 'fixed', match: { of: 'fixed' }, key: ['user'], algorithm: 'fixed-window', limit: 9, window: '10s' },
  {
    name: 'first',
    match: { of: 'first' },
    key: ['user'],
    algorithm: 'fixed-window',
    limit: 9,
    window: '10s',
    align: 'first-hit',
  },
  {
    name: 'month',
    match: { of: 'month' },
    key: ['user'],
    algorithm: 'fixed-window',
    limit: 9,
    align: 'month',
    timeZone: 'Asia/Kolkata',
  },
  { name: 'shadow', match: { of: 'shadow' }, key: ['user'], limit: 5, window: '10s', shadow: true },
  {
    name: 'blocking',
    match: { of: 'blocking' },
    key: ['user'],
    limit: 5,
    window: '10s',
    penalty: { blocks: ['20s', '40s'] },
  },
  {
    name: 'bucket',
    match: { of: 'bucket' },
    key: ['user'],
    algorithm: 'token-bucket',
    limit: 3,
    window: '10s',
    capacity: 8,
  },
  // Beside `window` in the same requests: these are of two checks, and touch its keys.
  { name: 'site', match: { of: 'window', whole: 'yes' }, limit: 12, window: '20s' },
] as GateOptions['rules']

const asks = fc.record({
  of: fc.constantFrom(
    'window',
    'window',
    'window',
    'coarse',
    'fixed',
    'first',
    'month',
    'shadow',
    'blocking',
    'bucket',
  ),
  user: fc.constantFrom('a', 'a', 'a', 'b'),
  cost: fc.constantFrom(1, 1, 1, 1, 2, 3, 0, 50),
  peek: fc.constantFrom(false, false, false, true),
  whole: fc.constantFrom('no', 'no', 'no', 'no', 'yes'),
})

/** Requests that all come in one turn, after a pause. The clock may have stepped back. */
const turns = fc.array(
  fc.record({
    pause: fc.constantFrom(0, 1, 999, 3000, 9999, 10_000, 25_000, -2000, -60_000),
    requests: fc.array(asks, { minLength: 1, maxLength: 40 }),
  }),
  { minLength: 1, maxLength: 6 },
)

type Asked = Record<'of' | 'user' | 'whole', string> & { cost: number; peek: boolean }

function ask(gate: Gate, { cost, peek, ...descriptor }: Asked) {
  return peek ? gate.peek(descriptor, { cost }) : gate.limit(descriptor, { cost })
}

for (const kind of [...storeKinds, ...clusterKinds]) {
  describe.skipIf(kind.skipped !== undefined)(`merging: ${kind.name} ${kind.skipped ?? ''}`, () => {
    let under: StoreUnderTest
    beforeAll(async () => {
      under = await kind.start()
    })
    afterAll(() => under.close())

    test('requests of one turn are decided as if one after the other', { timeout: 120_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(turns, async (sequence) => {
          let now = START
          const clock = () => now
          const together = createGate({ store: await under.open(clock), rules: RULES })
          const apart = createGate({ store: memoryStore({ clock }), rules: RULES })
          for (const { pause, requests } of sequence) {
            now += pause
            const asked = requests.map((request) => (kind.cluster ? { ...request, whole: 'no' } : request))
            const answers = await Promise.all(asked.map((request) => ask(together, request)))
            for (const [i, request] of asked.entries()) {
              expect(answers[i], `request ${i} of the turn at ${now}`).toEqual(await ask(apart, request))
            }
          }
        }),
        { numRuns: 60 },
      )
    })
  })
}
