import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileRule, type RuleOptions } from '../rule.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { shareOf } from './share.ts'

const compile = (options: Omit<RuleOptions, 'name'>) => compileRule({ name: 'r', ...options }, 'rule')

test.each([
  [1000, 1, 1000],
  [1000, 3, 333],
  [1000, 1000, 1],
  [2, 8, 1],
  [1, 8, 1],
  [0, 8, 0],
])('of a limit of %i among %i it is %i', (limit, instances, expected) => {
  expect(shareOf(compile({ limit, window: '1s' }), instances).limit).toBe(expected)
  expect(shareOf(compile({ limit, algorithm: 'quota' }), instances).limit).toBe(expected)
})

test('all shares together are at most the limit, or one each', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 1, max: 5000 }), (limit, instances) => {
      const share = shareOf(compile({ limit, algorithm: 'quota' }), instances)
      expect(share.limit * instances).toBeLessThanOrEqual(Math.max(limit, limit === 0 ? 0 : instances))
    }),
  )
})

test('of a token bucket it fills as much more slowly, never faster, and can be counted exactly', () => {
  const tokens = fc.integer({ min: 1, max: 2 ** 32 - 1 })
  const window = fc.integer({ min: 1, max: 31_622_400_000 })
  fc.assert(
    fc.property(tokens, tokens, window, fc.integer({ min: 2, max: 1000 }), (capacity, refill, ms, instances) => {
      let rule: ReturnType<typeof compile>
      try {
        rule = compile({ algorithm: 'token-bucket', limit: capacity, refill, window: ms })
      } catch {
        return
      }
      const share = shareOf(rule, instances)
      expect(share.refillUnits * share.tokenUnits).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER)
      expect(share.windowMs % share.tokenUnits).toBe(0)
      const perWindow = (one: typeof share) => (one.windowMs / one.tokenUnits) * one.refillUnits
      expect(perWindow(share)).toBeLessThanOrEqual(Math.max(1, perWindow(rule) / instances))
      expect(perWindow(share)).toBeGreaterThanOrEqual(1)
      expect(() => memoryStore({ clock: () => 0 }).decideOneSync(share, 'k', 1, 'consume')).not.toThrow()
    }),
    { numRuns: 300 },
  )
})

test('is made once for each rule and number of instances', () => {
  const rule = compile({ limit: 10, window: '1s' })
  expect(shareOf(rule, 2)).toBe(shareOf(rule, 2))
  expect(shareOf(rule, 1)).toBe(rule)
  expect(shareOf(rule, 5).limit).toBe(2)
})
