import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from './sha256.ts'

const reference = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex')

describe('sha256', () => {
  it('gives the digests of FIPS 180-4', () => {
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(sha256('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')).toBe(
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    )
  })

  it('agrees with node:crypto at every length around the block boundaries', () => {
    for (let length = 0; length <= 200; length++) {
      const text = 'x'.repeat(length)
      expect(sha256(text), `length ${length}`).toBe(reference(text))
    }
  })

  it('agrees with node:crypto on a megabyte', () => {
    const text = 'tide'.repeat(2 ** 18)
    expect(sha256(text)).toBe(reference(text))
  })

  it('agrees with node:crypto on any text', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 })
    fc.assert(
      fc.property(text, (value) => {
        expect(sha256(value)).toBe(reference(value))
      }),
      { numRuns: 500 },
    )
  })
})
