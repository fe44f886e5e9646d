import { describe, expect, test } from 'vitest'
import { createGate } from './gate.ts'
import type { RuleOptions } from './rule.ts'
import { compileRule } from './rule.ts'
import { memoryStore } from './stores/memory/memory-store.ts'

const hourly: RuleOptions = { name: 'hourly', key: ['user'], limit: 2, window: '1h' }

const gateOf = (rule: Partial<RuleOptions>) => {
  const clock = { now: 1_000_000 }
  const rules: RuleOptions[] = [{ ...hourly, ...rule }]
  const gate = createGate({ rules, store: memoryStore({ clock: () => clock.now }) })
  const admitted = (descriptor: Record<string, string>, times = 200) =>
    Array.from({ length: times }, () => gate.limitSync(descriptor)).filter(({ allowed }) => allowed).length
  return { gate, clock, admitted }
}

describe('the first override whose conditions a request meets replaces the limit', () => {
  const { gate, admitted } = gateOf({
    overrides: [
      { user: 'vip-1', limit: 100 },
      { user: { prefix: 'vip-' }, limit: 10 },
      { user: { prefix: 'bad-' }, plan: { not: 'gold' }, limit: 0 },
      { user: 'root', unlimited: true },
    ],
  })

  test.each([
    ['another user', { user: 'u1' }, 2],
    ['the one that is named', { user: 'vip-1' }, 100],
    ['one of a kind', { user: 'vip-2' }, 10],
    ['several conditions, met', { user: 'bad-1' }, 0],
    ['several conditions, not met', { user: 'bad-1', plan: 'gold' }, 2],
    ['without limit', { user: 'root' }, 200],
  ])('%s', (_, descriptor, most) => {
    expect(admitted(descriptor)).toBe(most)
  })

  test('the decision has the figures of the limit that there was', () => {
    expect(gate.peekSync({ user: 'vip-1' })).toMatchObject({ allowed: false, rule: 'hourly', limit: 100, used: 100 })
    const unlimited = { rule: 'hourly', allowed: true, limit: 4294967295, used: 0, remaining: 4294967295, reason: 'ok' }
    expect(gate.peekSync({ user: 'root' })).toMatchObject({ ...unlimited, rules: [{ ...unlimited, unlimited: true }] })
  })
})

test('the count is the same, whichever limit a request has', () => {
  const { gate, admitted } = gateOf({ overrides: [{ plan: 'gold', limit: 5 }] })
  expect(admitted({ user: 'u' })).toBe(2)
  expect(admitted({ user: 'u', plan: 'gold' })).toBe(3)
  expect(gate.limitSync({ user: 'u' })).toMatchObject({ allowed: false, limit: 2, used: 5, remaining: 0 })
})

test('capacity and refill of a bucket, burst of gcra', () => {
  const clock = { now: 0 }
  const store = memoryStore({ clock: () => clock.now })
  const bucket = { ...hourly, algorithm: 'token-bucket', window: 1000, limit: 10, capacity: 2 } as const
  const overrides = [
    { user: 'a', capacity: 4 },
    { user: 'b', limit: 1000 },
    { user: 'c', refill: 1 },
  ]
  const gate = createGate({ rules: [{ ...bucket, overrides }], store })
  const take = (user: string) => {
    const all = Array.from({ length: 9 }, () => gate.limitSync({ user }))
    return [all.filter(({ allowed }) => allowed).length, all.at(-1)?.retryAfterMs]
  }
  expect(['a', 'b', 'c', 'd'].map(take)).toEqual([
    [4, 100],
    [2, 1],
    [2, 1000],
    [2, 100],
  ])
})

// The kind of fault: a slow bucket is swept as if it were filled at the rate of another request's limit.
test('a bucket that an override fills slowly is not forgotten before it is full', () => {
  const clock = { now: 0 }
  const store = memoryStore({ clock: () => clock.now })
  const overrides = [{ user: 'slow', limit: 1, capacity: 10 }]
  const rule = { ...hourly, algorithm: 'token-bucket', window: 1000, limit: 1000, capacity: 10, overrides } as const
  const gate = createGate({ rules: [rule], store })
  gate.limitSync({ user: 'slow' }, { cost: 10 })
  clock.now += 2000
  for (let i = 0; i < 5000; i++) gate.limitSync({ user: `u${i}` })
  expect(gate.limitSync({ user: 'slow' }, { cost: 3 })).toMatchObject({ allowed: false, used: 8 })
})

test('a thousand of them are found without asking each', () => {
  const asked: string[] = []
  const overrides = Array.from({ length: 1000 }, (_, i) => ({ user: `vip-${i}`, limit: i + 3 }))
  const { gate } = gateOf({ overrides })
  const descriptor = new Proxy({ user: 'vip-998' } as Record<string, string>, {
    get(target, name) {
      asked.push(String(name))
      return target[String(name)]
    },
  })
  expect(gate.limitSync(descriptor)).toMatchObject({ limit: 1001 })
  expect(asked.length).toBeLessThan(10)
})

describe('an override that cannot be is refused, by field', () => {
  const other = (name: string) =>
    `the ${name} of the rule, or none: with another one it would be another count; ` +
    'write a rule of its own for these requests, and `skip` them here'
  const whole = 'a whole number from 0 to 4,294,967,295'
  const one = 'one of limit, capacity, refill, burst, or unlimited: true'

  test.each<[string, unknown, string, string]>([
    ['no list', { user: 'a', limit: 1 }, '', 'an array of overrides'],
    ['no object', ['a'], '[0]', 'an object that gives dimensions their conditions, and a limit'],
    ['no condition', [{ limit: 1 }], '[0]', 'at least one dimension and its condition'],
    ['no limit', [{ user: 'a' }], '[0]', one],
    [
      'a bad limit',
      [
        { user: 'a', limit: 1 },
        { user: 'b', limit: -1 },
      ],
      '[1].limit',
      whole,
    ],
    ['a limit as text', [{ user: 'a', limit: '5' }], '[0].limit', whole],
    ['a misspelt limit', [{ user: 'a', limti: 5 }], '[0].limti', expect.stringContaining('a string')],
    ['another window', [{ user: 'a', limit: 1, window: '1m' }], '[0].window', other('window')],
    ['another resolution', [{ user: 'a', limit: 1, resolution: 9 }], '[0].resolution', other('resolution')],
    ['another algorithm', [{ user: 'a', limit: 1, algorithm: 'sliding-log' }], '[0].algorithm', other('algorithm')],
    [
      'what the algorithm has not',
      [{ user: 'a', capacity: 1 }],
      '[0].capacity',
      'none with the algorithm sliding-window, which has window, resolution',
    ],
    ['both', [{ user: 'a', limit: 1, unlimited: true }], '[0].limit', 'none with unlimited: true'],
    ['a flag as text', [{ user: 'a', unlimited: 'yes' }], '[0].unlimited', 'true or false'],
  ])('%s', (_, overrides, field, expected) => {
    expect(() => compileRule({ ...hourly, overrides }, 'rules[0]')).toThrow(
      expect.objectContaining({
        code: expect.stringMatching(/^ERR_INVALID_/),
        field: `rules[0].overrides${field}`,
        expected,
      }),
    )
  })

  test('of a calendar', () => {
    const daily = { name: 'r', limit: 1, algorithm: 'fixed-window', align: 'day' }
    const compile = (override: object) => compileRule({ ...daily, overrides: [{ user: 'a', ...override }] }, 'rule')
    expect(() => compile({ limit: 5, align: 'week' })).toThrow(
      'rule.overrides[0].align: expected the align of the rule',
    )
    expect(() => compile({ limit: 5, timeZone: 'Europe/Berlin' })).toThrow('rule.overrides[0].timeZone: expected')
    expect(compile({ limit: 5, align: 'day', timeZone: 'UTC' }).overrides[0]?.limit?.limit).toBe(5)
    // A thousand overrides share its windows: a calendar's cost memory.
    const { overrides, windows } = compile({ limit: 5 })
    expect(overrides[0]?.limit?.windows).toBe(windows)
  })

  test('of a rule without limit', () => {
    const overrides = [{ user: 'a', limit: 1 }]
    expect(() => compileRule({ name: 'r', unlimited: true, overrides }, 'rule')).toThrow(
      'rule.overrides[0].limit: expected none, because the rule has no limit to override',
    )
  })

  test('the window of the rule again does no harm', () => {
    const rule = compileRule({ ...hourly, overrides: [{ user: 'a', limit: 1, window: 3_600_000 }] }, 'rule')
    expect(rule.id).toBe(compileRule(hourly, 'rule').id)
  })
})
