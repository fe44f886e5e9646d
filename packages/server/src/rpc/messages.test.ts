import fc from 'fast-check'
import { expect, test } from 'vitest'
import { framed, MessageReader } from './messages.ts'
import { percentEncoded, RpcError } from './status.ts'
import { timeoutMs } from './timeout.ts'

test('messages are the same, whatever they are cut into', () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 6 })
  fc.assert(
    fc.property(messages, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (given, cuts) => {
      const bytes = Buffer.concat(given.map(framed))
      const reader = new MessageReader(50)
      const read: Buffer[] = []
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const end = at + (cuts[i % cuts.length] as number)
        read.push(...reader.take(bytes.subarray(at, end)).map((message) => message.bytes))
        at = end
      }
      expect(read.map((message) => [...message])).toEqual(given.map((message) => [...message]))
      expect(reader.held).toBe(0)
    }),
  )
})

test('a length that is too long is refused before its bytes have come; a flag that there is not, too', () => {
  expect(() => new MessageReader(10).take(Buffer.from([0, 0, 0, 0, 11]))).toThrow(RpcError)
  expect(() => new MessageReader(10).take(Buffer.from([2, 0, 0, 0, 1, 0]))).toThrow('flag')
  const reader = new MessageReader(2 ** 20)
  expect(reader.take(Buffer.from([0, 0, 15, 255, 255]))).toEqual([])
  expect(reader.held).toBe(5)
})

test.each([
  ['20m', 20],
  ['1S', 1000],
  ['2M', 120_000],
  ['1H', 3_600_000],
  ['500u', 0.5],
  ['99999999n', 99.999_999],
  ['', undefined],
  ['20', undefined],
  ['m', undefined],
  ['123456789m', undefined],
  ['-1m', undefined],
  ['1.5S', undefined],
  ['1toString', undefined],
])('a timeout of %j', (text, ms) => {
  const read = timeoutMs(text)
  if (ms === undefined) expect(read).toBeUndefined()
  else expect(read).toBeCloseTo(ms)
})

test('a status message is printable ASCII, and reads as it was', () => {
  expect(percentEncoded('as it is: 100 of "x"')).toBe('as it is: 100 of "x"')
  expect(percentEncoded('50%\nä')).toBe('50%25%0A%C3%A4')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const encoded = percentEncoded(text)
      expect(encoded).toMatch(/^[ -~]*$/)
      expect(decodeURIComponent(encoded)).toBe(Buffer.from(text).toString())
    }),
  )
})
