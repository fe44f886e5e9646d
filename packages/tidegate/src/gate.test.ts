import { describe, expect, test } from 'vitest'
import type { Descriptor } from './descriptor.ts'
import { createGate } from './gate.ts'
import { createLimiter } from './limiter.ts'
import type { RuleOptions } from './rule.ts'

// The kind of fault: input whose fields are not where they are looked for, so that a limit opens in silence.
const noRecords: [string, unknown][] = [
  ['a Map', new Map([['user', 'u']])],
  ['a Date', new Date(0)],
  ['an instance of a class', new (class Request {})()],
  ['an object that inherits its dimensions', Object.create({ user: 'u' })],
  ['an array', ['user', 'u']],
  ['null', null],
  ['a string', 'user'],
  ['nothing', undefined],
]

describe('a descriptor', () => {
  const gate = createGate({ rules: [{ name: 'r', key: ['user'], limit: 1, window: '1h' }] })

  test.each(noRecords)('%s is refused', async (_, descriptor) => {
    const code = 'ERR_INVALID_DESCRIPTOR'
    await expect(gate.limit(descriptor as Descriptor)).rejects.toMatchObject({ code, field: 'descriptor' })
    expect(() => gate.limitSync(descriptor as Descriptor)).toThrow(expect.objectContaining({ code }))
  })

  test('without a prototype it is one like others', () => {
    const descriptor = Object.assign(Object.create(null), { user: 'bare' }) as Descriptor
    expect(gate.limitSync(descriptor)).toMatchObject({ allowed: true, rule: 'r' })
  })

  test('its dimensions are bounded and readable, and so are the errors about them', () => {
    for (const dimension of ['x'.repeat(1_000_000), 'x\ny', '', '{x}']) {
      for (const value of ['', 'u']) {
        const error = caught(() => gate.limitSync({ [dimension]: value }))
        expect(error).toMatchObject({ code: 'ERR_INVALID_KEY' })
        expect(error.message.length).toBeLessThan(300)
        expect(error.message).not.toContain('\n')
      }
    }
  })

  test.each([42, true, null, undefined, {}, ['u']])('the value %j is refused by name', (value) => {
    const error = caught(() => gate.limitSync({ user: value } as unknown as Descriptor))
    expect(error).toMatchObject({ code: 'ERR_INVALID_KEY', field: 'descriptor.user' })
  })
})

describe('options', () => {
  test.each(noRecords.filter(([name]) => name !== 'nothing'))('%s is refused', (_, options) => {
    const limiter = createLimiter({ limit: 1, window: 1 })
    expect(() => limiter.limitSync('k', options as object)).toThrow(expect.objectContaining({ name: 'TidegateError' }))
    expect(() => createLimiter(options as never)).toThrow(expect.objectContaining({ name: 'TidegateError' }))
  })

  test('a sparse list of rules, a match that is a Map', () => {
    expect(() => createGate({ rules: new Array(1) })).toThrow('rules[0]: expected an object')
    const match = new Map([['route', '/']]) as never
    expect(() => createGate({ rules: [{ name: 'r', match, limit: 1, window: 1 }] })).toThrow('rules[0].match: expected')
  })

  test('a misspelt option of a megabyte is named in brief', () => {
    expect(caught(() => createLimiter({ ['x'.repeat(1_000_000)]: 1 } as never)).message.length).toBeLessThan(300)
  })
})

test('a rule matches own dimensions only, whatever their names', () => {
  const match = { constructor: 'x' }
  const rules: RuleOptions[] = [{ name: 'r', match, key: ['toString'], limit: 1, window: '1h' }]
  const gate = createGate({ rules })
  expect(gate.limitSync({ a: 'b' })).toMatchObject({ reason: 'no_rule' })
  expect(gate.limitSync({ constructor: 'x' })).toMatchObject({ reason: 'no_rule' })
  expect(gate.limitSync({ constructor: 'x', toString: 'k' } as unknown as Descriptor)).toMatchObject({ rule: 'r' })
})

test('a rule whose dimension is missing is skipped and counted', async () => {
  const rules: RuleOptions[] = [{ name: 'user', key: ['user'], limit: 1, window: '1h' }]
  const gate = createGate({ rules })
  expect(gate.limitSync({})).toMatchObject({ allowed: true, reason: 'no_rule', remaining: 4294967295 })
  await gate.limit({ route: '/' })
  expect(gate.skipped()).toEqual(new Map([['user', 2]]))
})

test('a decision is JSON with all of its fields, its rules included', () => {
  const limiter = createLimiter({ name: 'one', limit: 3, window: '1s' })
  const decision = limiter.limitSync('k')
  const { rules, ...figures } = JSON.parse(JSON.stringify(decision))
  expect(figures).toEqual({
    ...{ allowed: true, limit: 3, used: 1, remaining: 2, retryAfterMs: 0, resetAfterMs: 1000, reason: 'ok' },
    ...{ source: 'store', rule: 'one', at: decision.at, id: null, atomicity: 'strict', version: limiter.version },
  })
  expect(rules).toEqual([
    {
      ...{ rule: 'one', allowed: true, limit: 3, used: 1, remaining: 2, retryAfterMs: 0, resetAfterMs: 1000 },
      ...{ reason: 'ok', at: decision.at },
    },
  ])
  expect(decision.rules).toEqual(rules)
})

function caught(work: () => unknown): Error {
  try {
    work()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}
