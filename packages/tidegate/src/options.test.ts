import { describe, expect, it } from 'vitest'
import { checkFields, checkInteger, checkPattern, isRecord } from './options.ts'

/** What a refusal must look like, all of it. */
function refusal(code: string, field: string, expected: string, message: string) {
  return expect.objectContaining({ name: 'TidegateError', code, field, expected, message })
}

describe('isRecord', () => {
  it.each([[{}], [{ a: 1 }], [Object.create(null)]])('is true for %o', (value) => {
    expect(isRecord(value)).toBe(true)
  })

  it.each([[null], [undefined], [1], ['a'], [true], [[]], [() => 1]])('is false for %o', (value) => {
    expect(isRecord(value)).toBe(false)
  })
})

describe('checkFields', () => {
  const known = ['limit', 'window']

  it('gives back an object of known fields, even an empty one', () => {
    const options = { limit: 1, window: 2 }
    expect(checkFields(options, 'options', known)).toBe(options)
    expect(checkFields({}, 'options', known)).toEqual({})
  })

  it('names an unknown option, and those that exist', () => {
    const expected = 'one of limit, window'
    expect(() => checkFields({ limit: 1, windw: 2 }, 'options', known)).toThrow(
      refusal('ERR_UNKNOWN_OPTION', 'windw', expected, `windw: unknown option, expected ${expected}`),
    )
    expect(() => checkFields({ Limit: undefined }, 'rules[4]', known)).toThrow(
      refusal('ERR_UNKNOWN_OPTION', 'rules[4].Limit', expected, `rules[4].Limit: unknown option, expected ${expected}`),
    )
    expect(() => checkFields(JSON.parse('{"__proto__":1}'), 'options', known)).toThrow(
      refusal('ERR_UNKNOWN_OPTION', '__proto__', expected, `__proto__: unknown option, expected ${expected}`),
    )
  })

  it.each([
    ['null', null],
    ['undefined', undefined],
    ['"limit"', 'limit'],
    ['100', 100],
    ['an array', [1]],
    ['a function', () => ({ limit: 1 })],
  ])('refuses %s', (received, value) => {
    const expected = 'an object with limit, window'
    expect(() => checkFields(value, 'options', known)).toThrow(
      refusal('ERR_INVALID_OPTION', 'options', expected, `options: expected ${expected}, received ${received}`),
    )
  })
})

describe('checkInteger', () => {
  it.each([1, 2, 1000])('admits %d', (value) => {
    expect(checkInteger(value, 'maxBatch', 1, 1000)).toBe(value)
  })

  it.each([
    ['0', 0],
    ['-1', -1],
    ['1001', 1001],
    ['1.5', 1.5],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['"10"', '10'],
    ['10', 10n],
    ['null', null],
    ['undefined', undefined],
    ['true', true],
  ])('refuses %s', (received, value) => {
    const expected = 'a whole number from 1 to 1,000'
    expect(() => checkInteger(value, 'maxBatch', 1, 1000)).toThrow(
      refusal('ERR_INVALID_OPTION', 'maxBatch', expected, `maxBatch: expected ${expected}, received ${received}`),
    )
  })
})

describe('checkPattern', () => {
  it('admits what matches and refuses the rest in the words given', () => {
    expect(checkPattern('tg', 'prefix', /^[a-z]+$/, 'letters')).toBe('tg')
    for (const [value, received] of [
      ['', '""'],
      ['T', '"T"'],
      [1, '1'],
      [['tg'], 'an array'],
    ]) {
      expect(() => checkPattern(value, 'prefix', /^[a-z]+$/, 'letters')).toThrow(
        refusal('ERR_INVALID_OPTION', 'prefix', 'letters', `prefix: expected letters, received ${received}`),
      )
    }
  })
})
