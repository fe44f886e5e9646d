import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Glob, globMatcher, headOf, parseGlob } from './glob.ts'

/** What a glob means, word for word; its time explodes. */
function means(pattern: readonly string[], value: readonly string[]): boolean {
  const [part, ...rest] = pattern
  const [first, ...others] = value
  if (part === undefined) return first === undefined
  if (part === '*' || part === '**') {
    return means(rest, value) || (first !== undefined && (part === '**' || first !== '/') && means(pattern, others))
  }
  if (first === undefined) return false
  return (part === '?' ? first !== '/' : part.replace('\\', '') === first) && means(rest, others)
}

const part = fc.constantFrom('a', 'b', '/', '*', '**', '?', '\\*', '\\?', '\\a', '😀')
const character = fc.constantFrom('a', 'b', '/', '*', '?', '😀', '\ud83d', '\ude00')

describe('a glob', () => {
  test('matches what its definition says', () => {
    const patterns = fc.array(part, { maxLength: 8 })
    fc.assert(
      fc.property(patterns, fc.array(character, { maxLength: 8 }), (pattern, characters) => {
        const value = characters.join('')
        const matches = globMatcher(parseGlob(pattern.join('')) as Glob)
        // Halves of a character may have met in the value; stars may have met in the pattern.
        const expected = means(
          pattern
            .join('')
            .match(/\\.|\*\*+|./gsu)
            ?.map(stars) ?? [],
          [...value],
        )
        expect(matches(value)).toBe(expected)
      }),
      { numRuns: 5000 },
    )
  })

  test('matches values made for it', () => {
    const grown = fc.array(fc.tuple(part, fc.array(character, { maxLength: 3 })), { maxLength: 7 })
    fc.assert(
      fc.property(grown, (parts) => {
        const pattern = parts.map(([text]) => text).join('')
        const value = parts.map(([text, some]) =>
          text.startsWith('*') ? some.join('') : text === '?' ? 'b' : text.replace('\\', ''),
        )
        const expected = means(pattern.match(/\\.|\*\*+|./gsu)?.map(stars) ?? [], [...value.join('')])
        expect(globMatcher(parseGlob(pattern) as Glob)(value.join(''))).toBe(expected)
      }),
      { numRuns: 5000 },
    )
  })

  test('means the same where its places fill more than one word', () => {
    const tail = fc.array(part, { minLength: 1, maxLength: 5 })
    const ending = fc.array(character, { maxLength: 6 })
    fc.assert(
      fc.property(fc.integer({ min: 27, max: 34 }), tail, ending, (length, parts, characters) => {
        const [pattern, value] = ['c'.repeat(length) + parts.join(''), 'c'.repeat(length) + characters.join('')]
        const expected = means(pattern.match(/\\.|\*\*+|./gsu)?.map(stars) ?? [], [...value])
        expect(globMatcher(parseGlob(pattern) as Glob)(value)).toBe(expected)
      }),
      { numRuns: 5000 },
    )
  })

  test('begins with its head, and so does every value that matches', () => {
    expect(headOf(parseGlob('/a\\*/?') as Glob)).toBe('/a*/')
    expect(headOf(parseGlob('**/a') as Glob)).toBe('')
    expect(headOf(parseGlob('/a') as Glob)).toBe('/a')
    expect(headOf(parseGlob('x'.repeat(4096)) as Glob)).toHaveLength(4096)
  })
})

// The kind of fault: one request with a long value occupies the process for seconds.
describe('a hostile glob and a hostile value', () => {
  const long = 4096
  const hostile: [string, string, string, boolean][] = [
    ['many stars that fail at the end', `${'*a'.repeat(30)}*b`, 'a'.repeat(long), false],
    ['as many stars as fit', `${'*a'.repeat(long / 2 - 1)}*b`, 'a'.repeat(long), false],
    ['stars over everything', `${'**a'.repeat(30)}**b`, 'a'.repeat(long), false],
    ['both kinds of stars', `${'**a*a'.repeat(20)}b`, 'a'.repeat(long), false],
    ['segments that begin alike', `${'**/*a'.repeat(20)}b`, '/a'.repeat(long / 2), false],
    ['question marks between stars', '*?'.repeat(long / 2), 'a'.repeat(long), true],
    ['a match that is found last', `**${'*a'.repeat(500)}*b`, `${'a'.repeat(long - 1)}b`, true],
  ]
  test.each(hostile)('%s: a fraction of a second', (_, pattern, value, expected) => {
    const matches = globMatcher(parseGlob(pattern) as Glob)
    const start = performance.now()
    expect(matches(value)).toBe(expected)
    // Backtracking would take longer than the universe is old; this takes 5 ms at the most on an idle machine.
    expect(performance.now() - start).toBeLessThan(1000)
  })

  test('twice the value takes about twice the time, not four times', () => {
    const matches = globMatcher(parseGlob(`${'*a'.repeat(30)}*b`) as Glob)
    const steps = [64, 65_536].map((length) => {
      const value = 'a'.repeat(length)
      const start = performance.now()
      for (let i = 0; i < 65_536 / length; i++) matches(value)
      return performance.now() - start
    })
    // The same number of characters altogether: a quadratic matcher would need a thousand times as long.
    expect((steps[1] as number) / (steps[0] as number)).toBeLessThan(20)
  })
})

function stars(text: string): string {
  return text.startsWith('*') && text.length > 2 ? '**' : text
}
