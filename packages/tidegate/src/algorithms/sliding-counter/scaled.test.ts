import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { scaledDown, scaledUp } from './scaled.ts'

const count = fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.constantFrom(0, 1, 65_535, 65_536, 2 ** 32 - 1))
const time = fc.oneof(fc.integer({ min: 1, max: 2 ** 35 - 1 }), fc.constantFrom(1, 2 ** 32, 2 ** 35 - 1))

test('counts times times, divided: as with integers of any size', () =>
  void fc.assert(
    fc.property(count, time, time, (value, numerator, denominator) => {
      const product = BigInt(value) * BigInt(numerator)
      const [down, rest] = [product / BigInt(denominator), product % BigInt(denominator)]
      // The quotients that are asked for are counts or times: none is beyond 2^53.
      fc.pre(down < 2n ** 53n)
      expect(BigInt(scaledDown(value, numerator, denominator))).toBe(down)
      expect(BigInt(scaledUp(value, numerator, denominator))).toBe(rest > 0n ? down + 1n : down)
    }),
    { numRuns: 3000 },
  ))

test('where a product of doubles, divided, is off by one', () => {
  const year = 31_622_400_000
  expect(Math.ceil((4_294_967_287 * 27_005_985_223) / year)).toBe(3_667_963_946)
  expect(scaledUp(4_294_967_287, 27_005_985_223, year)).toBe(3_667_963_947)
  expect(Math.floor((4_294_967_281 * 23_424_560_879) / year)).toBe(3_181_533_424)
  expect(scaledDown(4_294_967_281, 23_424_560_879, year)).toBe(3_181_533_423)
})
