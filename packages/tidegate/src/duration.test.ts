import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_WINDOW_MS, parseDuration } from './duration.ts'
import { TidegateError } from './errors.ts'

const expected = "whole milliseconds or a duration such as '250ms', '1s', '1m', '1h', '7d', from 1 ms to 366 days"

describe('parseDuration', () => {
  it.each([
    [1, 1],
    [1500, 1500],
    [MAX_WINDOW_MS, 31_622_400_000],
    ['250ms', 250],
    ['1s', 1000],
    ['90 s', 90_000],
    ['1m', 60_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
    ['366d', MAX_WINDOW_MS],
    ['8784h', MAX_WINDOW_MS],
    ['31622400000ms', MAX_WINDOW_MS],
  ])('reads %j as %d ms', (value, ms) => {
    expect(parseDuration(value, 'window')).toBe(ms)
  })

  it.each([
    ['0', 0],
    ['-1', -1],
    ['1.5', 1.5],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['31622400001', MAX_WINDOW_MS + 1],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['1e+300', 1e300],
    ['"0s"', '0s'],
    ['"367d"', '367d'],
    ['"999999999999999d"', '999999999999999d'],
    ['"1 week"', '1 week'],
    ['"1w"', '1w'],
    ['"1.5s"', '1.5s'],
    ['"-1s"', '-1s'],
    ['"1e3ms"', '1e3ms'],
    ['"1S"', '1S'],
    ['"1000"', '1000'],
    ['"s"', 's'],
    ['""', ''],
    ['" 1s"', ' 1s'],
    ['"1s\\n"', '1s\n'],
    ['"1  s"', '1  s'],
    ['"١s"', '١s'],
    [`"${'9'.repeat(40)}"… (1000000 characters)`, '9'.repeat(1_000_000)],
    ['undefined', undefined],
    ['null', null],
    ['true', true],
    ['Symbol(1s)', Symbol('1s')],
    ['an array', ['1s']],
    ['an object', { ms: 1 }],
    ['a function', () => 1],
  ])('refuses %s', (received, value) => {
    expect(() => parseDuration(value, 'rules[3].window')).toThrow(
      expect.objectContaining({
        name: 'TidegateError',
        code: 'ERR_INVALID_OPTION',
        field: 'rules[3].window',
        expected,
        message: `rules[3].window: expected ${expected}, received ${received}`,
      }),
    )
  })

  it('gives whole milliseconds within bounds or an error, whatever it is given', () => {
    const anything = fc.oneof(fc.anything(), fc.stringMatching(/^\d{1,17} ?(ms|s|m|h|d)$/), fc.double(), fc.integer())
    fc.assert(
      fc.property(anything, (value) => {
        try {
          const ms = parseDuration(value, 'window')
          expect(Number.isSafeInteger(ms) && ms >= 1 && ms <= MAX_WINDOW_MS).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(TidegateError)
        }
      }),
    )
  })
})
