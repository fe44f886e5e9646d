import { describe, expect, test } from 'vitest'
import { decideByAll, type RuleDecision } from '../decision.ts'
import { compileRules, type Rule } from '../rule.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { countersOf, questionOf } from './question.ts'

const [window, other] = compileRules([
  { name: 'window', key: ['user'], limit: 1, window: 100 },
  { name: 'other', key: ['a', 'b'], limit: 1, window: 100 },
]) as [Rule, Rule]
const leases: Rule = { ...other, name: 'leases', algorithm: 'concurrency' as Rule['algorithm'] }

const CONTEXT = { version: 'v', id: null, atomicity: 'strict' } as const
const store = memoryStore()

const figures = (
  retryAfterMs: number | null,
  reason: RuleDecision['reason'] = 'over_limit',
  rule = 'window',
): RuleDecision => {
  const allowed = retryAfterMs === 0
  return { rule, allowed, limit: 1, used: 1, remaining: 0, retryAfterMs, resetAfterMs: 1, reason, at: 0 }
}

describe('the least wait', () => {
  const cases: [string, Rule[], RuleDecision[], number][] = [
    ['of a window', [window], [figures(50)], 50],
    ['the longest of several', [window, other], [figures(50), figures(70)], 70],
    ['never', [window, other], [figures(50), figures(null)], Number.POSITIVE_INFINITY],
    ['of leases, which are released before they expire', [leases], [figures(30_000)], 0],
    ['of a window, where leases would take longer', [window, leases], [figures(50), figures(30_000)], 50],
    [
      'of leases that are not there to be released',
      [leases],
      [figures(null, 'cost_exceeds_limit')],
      Number.POSITIVE_INFINITY,
    ],
    ['of leases whose key is blocked', [leases], [figures(400, 'blocked')], 400],
    ['of a rule that would admit', [window, other], [figures(0, 'ok'), figures(70)], 70],
  ]

  test.each(cases)('%s', (_, rules, refusals, least) => {
    const checks = rules.map((rule) => ({ rule, key: 'k', cost: 1 }))
    const named = refusals.map((refusal, i) => ({ ...refusal, rule: rules[i]?.name as string }))
    // Rules without a counter have figures of their own, between those of others.
    const all = [...named.slice(0, 1), figures(0, 'ok', 'unlimited'), ...named.slice(1)]
    const question = questionOf(store, checks, () => decideByAll(all, CONTEXT))
    expect(question.leastWaitMs(decideByAll(all, CONTEXT))).toBe(least)
  })

  test('is not that of a rule in shadow', () => {
    const shadow: Rule = { ...window, shadow: true }
    const checks = [shadow, other].map((rule) => ({ rule, key: 'k', cost: 1 }))
    const all = [figures(null), figures(50, 'over_limit', 'other')]
    const question = questionOf(store, checks, () => decideByAll(all, CONTEXT))
    expect(question.leastWaitMs(decideByAll(all, CONTEXT))).toBe(50)
    expect(question.counters).toEqual(countersOf(checks.slice(1)))
  })
})

test('counters of different values have different names', () => {
  const names = countersOf([
    { rule: other, key: ['a', 'b,c'] },
    { rule: other, key: ['a,b', 'c'] },
    { rule: window, key: 'a,b' },
    { rule: window, key: 'other:a' },
  ])
  expect(new Set(names).size).toBe(4)
})

test('asked again, a request is the same: its id, and each of its checks', async () => {
  const asked: unknown[] = []
  const refunds: unknown[] = []
  const log = { ...window, name: 'log', algorithm: 'sliding-log' as Rule['algorithm'] }
  const checks = [
    { rule: window, key: 'u', cost: 3 },
    { rule: log, key: 'u', cost: 3, id: 'order-17' },
  ]
  const spy = {
    ...store,
    decide: async (...question: unknown[]) => {
      asked.push(question)
      return [figures(0, 'ok'), { ...figures(0, 'ok', 'log'), at: 7 }]
    },
    refund: async (...refund: unknown[]) => {
      refunds.push(refund)
      return refunds.length === 1 ? Promise.reject(new Error('down')) : 3
    },
  } as unknown as typeof store
  const question = questionOf(spy, checks, (answers) => decideByAll(answers, CONTEXT))
  const decision = await question.ask('consume')
  await question.ask('consume')
  expect(asked).toEqual([
    [checks, 'consume'],
    [checks, 'consume'],
  ])
  expect(question.id).toBe('order-17')
  // Each by itself and by its own time and id: that one fails keeps nothing from the other.
  await question.giveBack(decision)
  // What a rule in shadow has not admitted, it has not been charged.
  await question.giveBack(decideByAll([figures(50), figures(50, 'over_limit', 'log')], CONTEXT))
  expect(refunds).toEqual([
    [window, 'u', 3, { at: 0, id: undefined, usedBefore: expect.any(Number), source: 'store' }],
    [log, 'u', 3, { at: 7, id: 'order-17', usedBefore: expect.any(Number), source: 'store' }],
  ])
})
