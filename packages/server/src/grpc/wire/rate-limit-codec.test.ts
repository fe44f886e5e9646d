import { create, fromBinary, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RateLimitAnswer } from '../../envoy/protocol.ts'
import { ServiceError } from '../../errors.ts'
import { RateLimitRequestSchema, RateLimitResponseSchema } from '../generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { readRateLimitRequest, writeRateLimitResponse } from './rate-limit-codec.ts'

const text = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'grapheme', maxLength: 200 }))
const uint32 = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }))

const request = fc.record({
  domain: text,
  hitsAddend: uint32,
  descriptors: fc.array(
    fc.record({
      entries: fc.array(fc.record({ key: text, value: text }), { maxLength: 4 }),
      limit: fc.option(fc.record({ requestsPerUnit: uint32, unit: fc.integer({ min: -5, max: 9 }) }), {
        nil: undefined,
      }),
      hitsAddend: fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { nil: undefined }),
      isNegativeHits: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
})

test('a request is what generated code makes of it', () => {
  fc.assert(
    fc.property(request, (given) => {
      // A decoder of texts leaves out a byte order mark, and ours does not.
      fc.pre(!JSON.stringify(given, (_, value) => (typeof value === 'bigint' ? '' : value)).includes('\ufeff'))
      const message = create(RateLimitRequestSchema, given)
      const read = readRateLimitRequest(Buffer.from(toBinary(RateLimitRequestSchema, message)))
      const { domain, hitsAddend, descriptors } = fromBinary(
        RateLimitRequestSchema,
        toBinary(RateLimitRequestSchema, message),
      )
      expect(read).toEqual({
        domain,
        hitsAddend,
        descriptors: descriptors.map(({ entries, limit, hitsAddend: hits, isNegativeHits }) => ({
          entries: entries.map(({ key, value }) => ({ key, value })),
          limit: limit && { requestsPerUnit: limit.requestsPerUnit, unit: limit.unit },
          hitsAddend: hits === undefined ? undefined : Number(hits),
          isNegativeHits,
        })),
      })
    }),
  )
})

/** A field with a number that is none of ours, of each wire type, and one of ours with the wire type of another. */
const unknownFields = [
  Buffer.from([0xf8, 0x07, 0xff, 0x01]),
  Buffer.concat([Buffer.from([0xf9, 0x07]), Buffer.alloc(8, 7)]),
  Buffer.concat([Buffer.from([0xfa, 0x07, 3]), Buffer.from('abc')]),
  Buffer.from([0xfb, 0x07, 0xf8, 0x07, 0x01, 0xfb, 0x07, 0xfc, 0x07, 0xfc, 0x07]),
  Buffer.concat([Buffer.from([0xfd, 0x07]), Buffer.alloc(4, 7)]),
  Buffer.from([0x08, 0x05]),
]

test('what is unknown is passed by, and of a field that comes twice the last counts', () => {
  fc.assert(
    fc.property(request, request, fc.constantFrom(...unknownFields), (first, second, unknown) => {
      const bytes = (given: typeof first) =>
        Buffer.from(toBinary(RateLimitRequestSchema, create(RateLimitRequestSchema, given)))
      const read = readRateLimitRequest(Buffer.concat([bytes(first), unknown, bytes(second), unknown]))
      expect(read.domain).toBe(readRateLimitRequest(bytes(second)).domain || readRateLimitRequest(bytes(first)).domain)
      expect(read.hitsAddend).toBe(second.hitsAddend || first.hitsAddend)
      expect(read.descriptors).toHaveLength(first.descriptors.length + second.descriptors.length)
    }),
  )
})

test('bytes that are no message are refused with a reason, and never read beyond', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        readRateLimitRequest(Buffer.from(bytes))
      } catch (error) {
        expect(error).toBeInstanceOf(ServiceError)
        expect((error as ServiceError).code).toBe('ERR_INVALID_BODY')
      }
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['a text that is no UTF-8', [0x0a, 1, 0xff], /no UTF-8/],
  ['a length beyond the end', [0x0a, 5, 0x61], /ends within a field/],
  ['a descriptor beyond its own end', [0x12, 2, 0x0a, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0], /ends within a field/],
  ['a number that does not end', [0x18, ...Array(11).fill(0xff)], /more than ten bytes/],
  ['a field without a number', [0x02, 0], /number 0/],
  ['a wire type that there is not', [0x0f], /wire type 7/],
  ['groups in groups', Array(200).fill(0x7b), /too deep/],
  ['a group that does not end', [0x7b], /does not end/],
  ['the end of another group', [0x7b, 0x74], /has not begun/],
])('%s', (_, bytes, reason) => {
  expect(() => readRateLimitRequest(Buffer.from(bytes as number[]))).toThrow(reason as RegExp)
})

const code = fc.constantFrom(1 as const, 2 as const)
const answer: fc.Arbitrary<RateLimitAnswer> = fc.record({
  overallCode: code,
  statuses: fc.array(
    fc.record(
      {
        code,
        limitRemaining: uint32,
        currentLimit: fc.record({ requestsPerUnit: uint32, unit: fc.integer({ min: 0, max: 7 }), name: text }),
        secondsUntilReset: fc.oneof(uint32, fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })),
      },
      { requiredKeys: ['code', 'limitRemaining'] },
    ),
    { maxLength: 5 },
  ),
  headers: fc.array(fc.tuple(text, text), { maxLength: 4 }),
  dynamicMetadata: fc.option(
    fc
      .dictionary(text, fc.jsonValue({ noUnicodeString: false, maxDepth: 3 }))
      .map((value) => JSON.parse(JSON.stringify(value)) as NonNullable<RateLimitAnswer['dynamicMetadata']>),
    { nil: undefined },
  ),
})

test('an answer is what generated code reads in it, behind its prefix', () => {
  fc.assert(
    fc.property(answer, (given) => {
      const bytes = writeRateLimitResponse(given)
      expect([bytes[0], bytes.readUInt32BE(1)]).toEqual([0, bytes.length - 5])
      const { overallCode, statuses, headers, dynamicMetadata } = given
      const expected = create(RateLimitResponseSchema, {
        overallCode,
        statuses: statuses.map(({ secondsUntilReset, ...status }) => ({
          ...status,
          ...(secondsUntilReset !== undefined && { durationUntilReset: { seconds: BigInt(secondsUntilReset) } }),
        })),
        responseHeadersToAdd: headers.map(([key, value]) => ({ key, value })),
        ...(dynamicMetadata !== undefined && { dynamicMetadata: dynamicMetadata as JsonObject }),
      })
      const read = fromBinary(RateLimitResponseSchema, bytes.subarray(5))
      // By its bytes: JSON has no seconds beyond those of a Duration.
      expect(Buffer.from(toBinary(RateLimitResponseSchema, read))).toEqual(
        Buffer.from(toBinary(RateLimitResponseSchema, expected)),
      )
    }),
  )
})

test('an answer of a hundred kilobytes', () => {
  const headers = Array.from({ length: 1000 }, (_, i) => [`x-${i}`, 'ä'.repeat(100)] as const)
  const bytes = writeRateLimitResponse({ overallCode: 1, statuses: [], headers })
  const read = fromBinary(RateLimitResponseSchema, bytes.subarray(5))
  expect(read.responseHeadersToAdd.map(({ key, value }) => [key, value])).toEqual(headers)
  expect(toJson(RateLimitResponseSchema, read)).toMatchObject({ overallCode: 'OK' })
})
