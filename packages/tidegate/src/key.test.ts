import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkKey, encodeKey, isKey, joinKey, MAX_KEY_LENGTH } from './key.ts'
import { sha256 } from './sha256.ts'

/** Strings made mostly of what an encoding could stumble over. */
const awkward = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '%',
      ',',
      ':',
      '*',
      '#',
      '{',
      '}',
      '_',
      'a',
      'b',
      '2',
      '5',
      'C',
      'u',
      'D',
      '8',
      '0',
      '\u0000',
      '\n',
    ),
    fc.constantFrom('\ud800', '\udbff', '\udc00', '\udfff', '\ud83d\ude00', 'é', '\u2028'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 6,
})
const values = fc.array(awkward, { minLength: 1, maxLength: 4 })
const runs = { numRuns: 5000 }

/** Two lists of values that are often nearly alike: what one separator more or less would confuse. */
const pair = fc.oneof(
  fc.tuple(values, values),
  values.chain((first) => {
    const text = first.join(',')
    return fc.tuple(
      fc.constant(first),
      fc.constantFrom([text], text.split(','), text.split('%2C'), [...first].reverse()),
    )
  }),
)

/** The list that an encoding stands for, worked out independently. */
function decode(encoded: string): string[] {
  const value = (text: string) =>
    text.replace(/%u([0-9A-F]{4})|%([0-9A-F]{2})/g, (_, wide: string | undefined, narrow: string | undefined) =>
      String.fromCharCode(Number.parseInt(wide ?? narrow ?? '', 16)),
    )
  return encoded.split(',').map(value)
}

describe('joinKey', () => {
  it('tells apart what plain joining would not', () => {
    expect(joinKey(['a', 'b_c'])).not.toBe(joinKey(['a_b', 'c']))
    expect(joinKey(['a,b', 'c'])).not.toBe(joinKey(['a', 'b,c']))
    expect(joinKey(['a%2Cb'])).not.toBe(joinKey(['a,b']))
  })

  it('leaves a single value as it is', () => {
    expect(joinKey('a,b%')).toBe('a,b%')
  })

  it('gives different lists different strings', () => {
    fc.assert(
      fc.property(pair, ([first, second]) => {
        expect(joinKey(first) === joinKey(second)).toBe(JSON.stringify(first) === JSON.stringify(second))
      }),
      runs,
    )
  })
})

describe('encodeKey', () => {
  it.each([
    ['user-1', 'user-1'],
    ['/order', '/order'],
    ['a:b', 'a%3Ab'],
    ['100%', '100%25'],
    ['*', '%2A'],
    ['#1', '%231'],
    ['a{b}c', 'a%7Bb%7Dc'],
    ['\ud800', '%uD800'],
    ['%uD800', '%25uD800'],
    ['\ud83d\ude00', '\ud83d\ude00'],
    [['a', 'b'], 'a,b'],
    [['a,b', 'c'], 'a%2Cb,c'],
    [[], '*'],
    [['*'], '%2A'],
  ])('writes %j as %s', (key, encoded) => {
    expect(encodeKey(key)).toBe(encoded)
  })

  it('loses nothing while it is not hashed: the list can be read back', () => {
    fc.assert(
      fc.property(values, (list) => {
        const encoded = encodeKey(list)
        fc.pre(!encoded.startsWith('#'))
        expect(decode(encoded)).toEqual(list)
      }),
      runs,
    )
  })

  it('gives different lists different strings, hashed or not', () => {
    const long = fc.tuple(values, fc.constantFrom('', 'x'.repeat(121))).map(([list, tail]) => [...list, tail])
    fc.assert(
      fc.property(fc.oneof(pair, fc.tuple(long, long)), fc.boolean(), ([first, second], hash) => {
        expect(encodeKey(first, hash) === encodeKey(second, hash)).toBe(
          JSON.stringify(first) === JSON.stringify(second),
        )
      }),
      runs,
    )
  })

  it('holds no separator, brace or control character of a key that passes the check', () => {
    fc.assert(
      fc.property(values, fc.boolean(), (list, hash) => {
        fc.pre(list.every(isKey))
        const encoded = encodeKey(list, hash)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: there must be none.
        expect(encoded).not.toMatch(/[\u0000-\u001f\u007f{}:]/)
        expect(encoded.split(',').length).toBe(encoded.startsWith('#') ? 1 : list.length)
      }),
      { ...runs, maxSkipsPerRun: 1000 },
    )
  })

  it('holds no separator or brace of any text, and survives UTF-8', () => {
    fc.assert(
      fc.property(values, fc.boolean(), (list, hash) => {
        const encoded = encodeKey(list, hash)
        expect(encoded).not.toMatch(/[{}:*]/)
        expect(Buffer.from(encoded, 'utf8').toString('utf8')).toBe(encoded)
      }),
      runs,
    )
  })

  describe('hashes what is longer than 128 bytes', () => {
    it.each([
      ['128 letters', 'a'.repeat(128), false],
      ['129 letters', 'a'.repeat(129), true],
      ['64 letters of 2 bytes', 'é'.repeat(64), false],
      ['65 letters of 2 bytes', 'é'.repeat(65), true],
      ['42 signs of 3 bytes', '€'.repeat(42), false],
      ['43 signs of 3 bytes', '€'.repeat(43), true],
      ['32 signs of 4 bytes', '\ud83d\ude00'.repeat(32), false],
      ['33 signs of 4 bytes', '\ud83d\ude00'.repeat(33), true],
      ['42 signs that are escaped to 126 bytes', ':'.repeat(42), false],
      ['43 signs that are escaped to 129 bytes', ':'.repeat(43), true],
      ['dimensions of 128 bytes with their comma', ['a'.repeat(63), 'b'.repeat(64)], false],
      ['dimensions of 129 bytes with their comma', ['a'.repeat(64), 'b'.repeat(64)], true],
    ])('%s', (_, key, hashed) => {
      expect(encodeKey(key)).toMatch(hashed ? /^#[0-9a-f]{32}$/ : /^[^#]/)
    })

    it('to the first half of the SHA-256 of what would have stood there', () => {
      expect(encodeKey('a'.repeat(200))).toBe(`#${sha256('a'.repeat(200)).slice(0, 32)}`)
      expect(encodeKey('a:b', true)).toBe(`#${sha256('a%3Ab').slice(0, 32)}`)
      expect(encodeKey([], true)).toBe(`#${sha256('*').slice(0, 32)}`)
    })
  })
})

describe('checkKey', () => {
  it.each(['a', ' ', 'é', '\ud800', '*', '#', '%', 'a,b', 'a:b', 'x'.repeat(MAX_KEY_LENGTH)])('admits %j', (key) => {
    expect(checkKey(key, 'key')).toBe(key)
  })

  const expected = 'a string of 1 to 4096 characters without control characters or braces'

  it.each([
    ['', '""'],
    ['a\u0000b', '"a\\u0000b"'],
    ['a\nb', '"a\\nb"'],
    ['a\u007f', JSON.stringify('a\u007f')],
    ['{', '"{"'],
    ['a}', '"a}"'],
    ['x'.repeat(MAX_KEY_LENGTH + 1), `"${'x'.repeat(40)}"… (4097 characters)`],
    ['x'.repeat(2 ** 20), `"${'x'.repeat(40)}"… (1048576 characters)`],
    [undefined, 'undefined'],
    [null, 'null'],
    [1, '1'],
    [['a'], 'an array'],
  ])('refuses %j', (key, received) => {
    expect(() => checkKey(key, 'descriptor.user')).toThrow(
      expect.objectContaining({
        name: 'TidegateError',
        code: 'ERR_INVALID_KEY',
        field: 'descriptor.user',
        expected,
        message: `descriptor.user: expected ${expected}, received ${received}`,
      }),
    )
  })
})
