import { describe, expect, it } from 'vitest'
import { createGate } from './gate.ts'
import { createLimiter } from './limiter.ts'
import { compileRule, compileRules, type RuleOptions } from './rule.ts'
import { versionOf } from './rule-version.ts'

const rule: RuleOptions = { name: 'hourly', key: ['user'], limit: 10, window: '1h' }

const whole = 'a whole number from 0 to 4,294,967,295'
const duration = "whole milliseconds or a duration such as '250ms', '1s', '1m', '1h', '7d', from 1 ms to 366 days"
const nameForm = "1 to 64 letters, digits, '_', '-' or '.', beginning with a letter or digit"
const keyForm = 'a string of 1 to 4096 characters without control characters or braces'
const condition = 'a string, a list of strings, or a condition by prefix, glob, cidr or not'
const entries = 'a limit, a window or a resolution that needs at most 4,000,000 entries for a key'
const limitFields = 'limit, window, algorithm, resolution, align, timeZone, capacity, refill, period, burst, shards'
const ruleFields = `name, match, key, ${limitFields}, overrides, skip, unlimited, shadow, required, cost, penalty, mode, slack, leaseMs, onStoreFailure, deniedCache, coarse, description`
const fields = `one of ${ruleFields}`

/** One wrong field of a rule: the value, the code, what was expected there and how the value is shown. */
const wrong: [what: string, change: object, code: string, field: string, expected: string, ending: string][] = [
  ...(
    [
      ['-1', -1],
      ['0.5', 0.5],
      ['NaN', Number.NaN],
      ['Infinity', Number.POSITIVE_INFINITY],
      ['-Infinity', Number.NEGATIVE_INFINITY],
      ['4294967296', 2 ** 32],
      ['1e+300', 1e300],
      ['"10"', '10'],
      ['null', null],
      ['undefined', undefined],
      ['an array', [10]],
    ] as const
  ).map(([shown, limit]): (typeof wrong)[number] => {
    return [`limit ${shown}`, { limit }, 'ERR_INVALID_OPTION', '.limit', whole, `, received ${shown}`]
  }),
  ...(
    [
      ['0', 0],
      ['-1', -1],
      ['1.5', 1.5],
      ['NaN', Number.NaN],
      ['Infinity', Number.POSITIVE_INFINITY],
      ['31622400001', 366 * 86_400_000 + 1],
      ['"367d"', '367d'],
      ['"1 week"', '1 week'],
      ['""', ''],
      ['undefined', undefined],
      ['null', null],
    ] as const
  ).map(([shown, window]): (typeof wrong)[number] => {
    return [`window ${shown}`, { window }, 'ERR_INVALID_OPTION', '.window', duration, `, received ${shown}`]
  }),
  ...(
    [
      ['""', ''],
      ['".a"', '.a'],
      ['"_a"', '_a'],
      ['"a b"', 'a b'],
      ['"a:b"', 'a:b'],
      ['"a{b"', 'a{b'],
      ['"a\\n"', 'a\n'],
      ['"é"', 'é'],
      ['"a\\"b"', 'a"b'],
      [`"${'a'.repeat(40)}"… (65 characters)`, 'a'.repeat(65)],
      ['7', 7],
      ['undefined', undefined],
      ['null', null],
    ] as const
  ).map(([shown, name]): (typeof wrong)[number] => {
    return [`name ${shown}`, { name }, 'ERR_INVALID_OPTION', '.name', nameForm, `, received ${shown}`]
  }),
  [
    'an algorithm that is not there',
    { algorithm: 'leaky-bucket' },
    'ERR_INVALID_OPTION',
    '.algorithm',
    'one of sliding-window, sliding-log, sliding-counter, fixed-window, token-bucket, concurrency, quota, gcra',
    ', received "leaky-bucket"',
  ],
  [
    'no algorithm',
    { algorithm: null },
    'ERR_INVALID_OPTION',
    '.algorithm',
    'one of sliding-window, sliding-log, sliding-counter, fixed-window, token-bucket, concurrency, quota, gcra',
    ', received null',
  ],
  [
    'an inherited name as algorithm',
    { algorithm: 'toString' },
    'ERR_INVALID_OPTION',
    '.algorithm',
    'one of sliding-window, sliding-log, sliding-counter, fixed-window, token-bucket, concurrency, quota, gcra',
    ', received "toString"',
  ],
  ['a text as key', { key: 'user' }, 'ERR_INVALID_OPTION', '.key', 'an array of dimensions', ', received "user"'],
  ['an empty dimension', { key: ['user', ''] }, 'ERR_INVALID_KEY', '.key[1]', keyForm, ', received ""'],
  ['a dimension with NUL', { key: ['a\u0000'] }, 'ERR_INVALID_KEY', '.key[0]', keyForm, ', received "a\\u0000"'],
  ['a dimension with a brace', { key: ['{a}'] }, 'ERR_INVALID_KEY', '.key[0]', keyForm, ', received "{a}"'],
  ['a number as dimension', { key: [1] }, 'ERR_INVALID_KEY', '.key[0]', keyForm, ', received 1'],
  [
    'a dimension twice',
    { key: ['a', 'b', 'a'] },
    'ERR_INVALID_OPTION',
    '.key[2]',
    'each dimension once',
    ', received "a"',
  ],
  [
    'a text as match',
    { match: '/order' },
    'ERR_INVALID_OPTION',
    '.match',
    'an object that gives dimensions the values to match',
    ', received "/order"',
  ],
  [
    'an array as match',
    { match: ['/order'] },
    'ERR_INVALID_OPTION',
    '.match',
    'an object that gives dimensions the values to match',
    ', received an array',
  ],
  ['an empty value to match', { match: { route: '' } }, 'ERR_INVALID_KEY', '.match.route', keyForm, ', received ""'],
  ['a number to match', { match: { route: 1 } }, 'ERR_INVALID_OPTION', '.match.route', condition, ', received 1'],
  ['an empty dimension to match', { match: { '': 'a' } }, 'ERR_INVALID_KEY', '.match', keyForm, ', received ""'],
  ['a number as description', { description: 1 }, 'ERR_INVALID_OPTION', '.description', 'a string', ', received 1'],
  [
    'more entries than a key may hold',
    { limit: 4_000_001, window: '2h' },
    'ERR_INVALID_OPTION',
    '.limit',
    entries,
    '; a window of 7200000 ms by 1 ms could hold 4,000,001',
  ],
  [
    'more milliseconds than a key may hold',
    { limit: 2 ** 32 - 1, window: 4_000_001 },
    'ERR_INVALID_OPTION',
    '.limit',
    entries,
    '; a window of 4000001 ms by 1 ms could hold 4,000,001',
  ],
]

describe('a rule with one wrong field is refused, by code, field and message', () => {
  it.each(wrong)('%s', (_, change, code, field, expected, ending) => {
    const message = `rules[2]${field}: expected ${expected}${ending}`
    const refused = expect.objectContaining({
      name: 'TidegateError',
      code,
      field: `rules[2]${field}`,
      expected,
      message,
    })
    expect(() => compileRule({ ...rule, ...change }, 'rules[2]')).toThrow(refused)
    const good = [rule, { ...rule, name: 'daily' }]
    expect(() => createGate({ rules: [...good, { ...rule, ...change }] as RuleOptions[] })).toThrow(refused)
  })

  it.each(['windw', 'Limit', 'costs', 'rate', '__proto__'])('unknown field %s', (name) => {
    const options = JSON.parse(JSON.stringify(rule).replace('}', `,${JSON.stringify(name)}:1}`))
    const field = `rules[0].${name}`
    const message = `${field}: unknown option, expected ${fields}`
    expect(() => compileRules([options])).toThrow(
      expect.objectContaining({ code: 'ERR_UNKNOWN_OPTION', field, expected: fields, message }),
    )
  })

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['"hourly"', 'hourly'],
    ['an array', [rule]],
  ])('a rule that is %s', (received, value) => {
    const expected = `an object with ${ruleFields}`
    const message = `rules[0]: expected ${expected}, received ${received}`
    expect(() => compileRules([value])).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: 'rules[0]', expected, message }),
    )
  })

  it.each([
    ['undefined', undefined],
    ['an object', { hourly: rule }],
    ['"hourly"', 'hourly'],
  ])('rules that are %s', (received, value) => {
    const message = `rules: expected an array of rules, received ${received}`
    expect(() => compileRules(value)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: 'rules', message }),
    )
  })

  it('two rules of one name', () => {
    const message = 'rules[2].name: expected a name that no other rule has, but rules[0] is named "hourly" too'
    expect(() => compileRules([rule, { ...rule, name: 'Hourly' }, { ...rule, limit: 5 }])).toThrow(
      expect.objectContaining({
        name: 'TidegateError',
        code: 'ERR_DUPLICATE_RULE',
        field: 'rules[2].name',
        expected: 'a name that no other rule has',
        message,
      }),
    )
  })
})

describe('a rule at its bounds is admitted', () => {
  it.each([
    [{ limit: 0 }],
    [{ limit: 2 ** 32 - 1, window: 1 }],
    [{ limit: 2 ** 32 - 1, window: 4_000_000 }],
    [{ limit: 4_000_000, window: '366d' }],
    [{ name: 'a' }],
    [{ name: `9${'._-'.repeat(21)}` }],
    [{ key: [] }],
    [{ key: undefined, match: undefined, description: undefined, algorithm: undefined }],
    [{ match: { route: '/order', 'x-tenant': 'a,b:c*' } }],
    [{ algorithm: 'sliding-window' }],
  ])('%o', (change) => {
    const compiled = compileRule({ ...rule, ...change }, 'rules[0]')
    expect(compiled).toMatchObject({ algorithm: 'sliding-window' })
    expect(compiled.id).toMatch(/^[A-Za-z0-9._-]+\.[0-9a-f]{8}$/)
  })

  it('in the form that stores work with', () => {
    expect(compileRule({ ...rule, match: { route: '/order' }, description: 'why' }, 'rules[0]')).toEqual({
      name: 'hourly',
      match: [['route', { kind: 'exact', values: ['/order'], matches: expect.any(Function) }]],
      key: ['user'],
      algorithm: 'sliding-window',
      limit: 10,
      windowMs: 3_600_000,
      spanMs: 3_600_000,
      resolutionMs: 1,
      refillUnits: 0,
      tokenUnits: 0,
      windows: undefined,
      penalty: undefined,
      lease: undefined,
      shards: 1,
      slot: -1,
      description: 'why',
      overrides: [],
      skip: [],
      unlimited: false,
      shadow: false,
      required: false,
      cost: undefined,
      onStoreFailure: 'local',
      deniedCache: true,
      coarse: false,
      limitSource: undefined,
      written: expect.objectContaining({ fields: expect.objectContaining({ limit: 10, window: '1h' }) }),
      id: expect.stringMatching(/^hourly\.[0-9a-f]{8}$/),
    })
  })
})

describe('what state is filed under', () => {
  const idOf = (change: object) => compileRule({ ...rule, ...change }, 'rule').id

  it.each([
    [{ window: '2h' }],
    [{ key: ['user', 'route'] }],
    [{ key: ['tenant'] }],
    [{ key: [] }],
    [{ name: 'other' }],
  ])('changes with %o', (change) => expect(idOf(change)).not.toBe(idOf({})))

  it.each([[{ limit: 11 }], [{ description: 'why' }], [{ match: { route: '/a' } }], [{ window: 3_600_000 }]])(
    'stays with %o',
    (change) => expect(idOf(change)).toBe(idOf({})),
  )

  it('changes with the order of the dimensions', () => {
    expect(idOf({ key: ['a', 'b'] })).not.toBe(idOf({ key: ['b', 'a'] }))
  })
})

describe('the version of a set of rules', () => {
  const versionWith = (...changes: object[]) =>
    versionOf(compileRules(changes.map((change) => ({ ...rule, ...change }))))

  it('is the same wherever the same rules are loaded', () => {
    expect(versionWith({}, { name: 'b' })).toBe(versionWith({}, { name: 'b' }))
    expect(versionWith({})).toMatch(/^[0-9a-f]{8}$/)
  })

  it.each([[{ limit: 11 }], [{ window: '2h' }], [{ match: { route: '/a' } }], [{ key: ['a'] }], [{ name: 'b' }]])(
    'changes with %o',
    (change) => expect(versionWith(change)).not.toBe(versionWith({})),
  )

  it('changes with the order of the rules', () => {
    expect(versionWith({}, { name: 'b' })).not.toBe(versionWith({ name: 'b' }, {}))
  })
})

describe('the options of a limiter', () => {
  const limiterFields = `one of ${limitFields}, penalty, mode, slack, leaseMs, name, store, onStoreFailure, deniedCache, coarse, observer, maxWaiting`

  it.each([
    [{ limit: -1, window: '1s' }, 'ERR_INVALID_OPTION', 'limit', `limit: expected ${whole}, received -1`],
    [{ limit: '5', window: '1s' }, 'ERR_INVALID_OPTION', 'limit', `limit: expected ${whole}, received "5"`],
    [{ window: '1s' }, 'ERR_INVALID_OPTION', 'limit', `limit: expected ${whole}, received undefined`],
    [{ limit: 5 }, 'ERR_INVALID_OPTION', 'window', `window: expected ${duration}, received undefined`],
    [{ limit: 5, window: '1 week' }, 'ERR_INVALID_OPTION', 'window', `window: expected ${duration}, received "1 week"`],
    [
      { limit: 5, window: '1s', name: 'a b' },
      'ERR_INVALID_OPTION',
      'name',
      `name: expected ${nameForm}, received "a b"`,
    ],
    [
      { limit: 5, windowMs: 1 },
      'ERR_UNKNOWN_OPTION',
      'windowMs',
      `windowMs: unknown option, expected ${limiterFields}`,
    ],
    [
      { limit: 5, window: '1s', key: [] },
      'ERR_UNKNOWN_OPTION',
      'key',
      `key: unknown option, expected ${limiterFields}`,
    ],
    [
      { limit: 5, window: '1s', name: 'a', store: {} },
      'ERR_INVALID_OPTION',
      'store',
      'store: expected a store, such as memoryStore() or redisStore(client), received an object',
    ],
    [
      { limit: 5, window: '1s', store: {} },
      'ERR_INVALID_OPTION',
      'name',
      'name: expected a name, because other limiters can use the same store, received undefined',
    ],
  ])('%o', (options, code, field, message) => {
    expect(() => createLimiter(options as never)).toThrow(
      expect.objectContaining({ name: 'TidegateError', code, field, message }),
    )
  })
})

describe('the cost of a request', () => {
  const limiter = createLimiter({ limit: 5, window: '1h' })
  const gate = createGate({ rules: [rule] })

  it.each([
    ['-1', -1],
    ['0.5', 0.5],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['4294967296', 2 ** 32],
    ['"1"', '1'],
    ['null', null],
    ['1', 1n],
    ['an array', [1]],
  ])('is refused when it is %s, and nothing is charged', async (received, cost) => {
    const options = { cost: cost as number }
    const message = `cost: expected ${whole}, received ${received}`
    const refused = expect.objectContaining({ code: 'ERR_INVALID_COST', field: 'cost', expected: whole, message })
    expect(() => limiter.limitSync('a', options)).toThrow(refused)
    expect(() => limiter.peekSync('a', options)).toThrow(refused)
    expect(() => gate.limitSync({ user: 'a' }, options)).toThrow(refused)
    await expect(limiter.limit('a', options)).rejects.toEqual(refused)
    await expect(limiter.peek('a', options)).rejects.toEqual(refused)
    await expect(gate.limit({ user: 'a' }, options)).rejects.toEqual(refused)
    expect(limiter.peekSync('a', { cost: 0 }).used).toBe(0)
    expect(gate.peekSync({ user: 'a' }, { cost: 0 }).used).toBe(0)
  })

  it('is refused when it is misspelt', () => {
    const message = 'costs: unknown option, expected one of cost, id'
    expect(() => limiter.limitSync('a', { costs: 2 } as never)).toThrow(
      expect.objectContaining({ code: 'ERR_UNKNOWN_OPTION', field: 'costs', message }),
    )
  })

  it('may be anything from 0 to the largest', () => {
    expect(limiter.peekSync('b', { cost: 0 })).toMatchObject({ allowed: true, used: 0 })
    expect(limiter.peekSync('b', { cost: 5 })).toMatchObject({ allowed: true, used: 5 })
    expect(limiter.peekSync('b', { cost: 2 ** 32 - 1 })).toMatchObject({ allowed: false, reason: 'cost_exceeds_limit' })
    expect(limiter.peekSync('b', { cost: undefined } as never)).toMatchObject({ allowed: true, used: 1 })
  })
})
