import type { DescriptorMessage, RateLimitAnswer, RateLimitMessage, StatusAnswer } from '../../envoy/protocol.ts'
import { FieldReader, WIRE } from './message-reader.ts'
import { MessageWriter } from './message-writer.ts'
import { writeStruct } from './struct-codec.ts'

/**
 * A `RateLimitRequest`. By hand, because every request waits for it: a test holds it against generated code.
 * @throws ServiceError `ERR_INVALID_BODY` where the bytes are no message
 */
export function readRateLimitRequest(bytes: Buffer): RateLimitMessage {
  const reader = new FieldReader(bytes)
  const descriptors: DescriptorMessage[] = []
  let domain = ''
  let hitsAddend = 0
  while (reader.next()) {
    const { field, wire } = reader
    if (field === 1 && wire === WIRE.BYTES) domain = reader.string()
    else if (field === 2 && wire === WIRE.BYTES) descriptors.push(readDescriptor(reader))
    else if (field === 3 && wire === WIRE.VARINT) hitsAddend = reader.uint32()
    else reader.skip()
  }
  return { domain, descriptors, hitsAddend }
}

function readDescriptor(reader: FieldReader): DescriptorMessage {
  const entries: { key: string; value: string }[] = []
  let limit: { requestsPerUnit: number; unit: number } | undefined
  let hitsAddend: number | undefined
  let isNegativeHits = false
  const outer = reader.enter()
  while (reader.next()) {
    const { field, wire } = reader
    if (field === 1 && wire === WIRE.BYTES) entries.push(readEntry(reader))
    else if (field === 2 && wire === WIRE.BYTES) {
      limit ??= { requestsPerUnit: 0, unit: 0 }
      readLimit(reader, limit)
    } else if (field === 3 && wire === WIRE.BYTES) hitsAddend = readWrapped(reader, hitsAddend ?? 0)
    else if (field === 4 && wire === WIRE.VARINT) isNegativeHits = reader.bool()
    else reader.skip()
  }
  reader.leave(outer)
  return { entries, limit, hitsAddend, isNegativeHits }
}

function readEntry(reader: FieldReader): { key: string; value: string } {
  let key = ''
  let value = ''
  const outer = reader.enter()
  while (reader.next()) {
    const { field, wire } = reader
    if (field === 1 && wire === WIRE.BYTES) key = reader.string()
    else if (field === 2 && wire === WIRE.BYTES) value = reader.string()
    else reader.skip()
  }
  reader.leave(outer)
  return { key, value }
}

/** Into what is there: a message that comes twice is one. */
function readLimit(reader: FieldReader, limit: { requestsPerUnit: number; unit: number }): void {
  const outer = reader.enter()
  while (reader.next()) {
    const { field, wire } = reader
    if (field === 1 && wire === WIRE.VARINT) limit.requestsPerUnit = reader.uint32()
    // Signed, as enumerations are.
    else if (field === 2 && wire === WIRE.VARINT) limit.unit = reader.uint32() | 0
    else reader.skip()
  }
  reader.leave(outer)
}

/** A `UInt64Value`. */
function readWrapped(reader: FieldReader, before: number): number {
  let value = before
  const outer = reader.enter()
  while (reader.next()) {
    if (reader.field === 1 && reader.wire === WIRE.VARINT) value = reader.uint64()
    else reader.skip()
  }
  reader.leave(outer)
  return value
}

const writer = new MessageWriter()

/** A `RateLimitResponse`, ready to be sent. */
export function writeRateLimitResponse(answer: RateLimitAnswer): Buffer {
  const { overallCode, statuses, headers, dynamicMetadata } = answer
  writer.reset()
  writer.uint(1, overallCode)
  for (const status of statuses) writeStatus(status)
  for (const [name, value] of headers) {
    const start = writer.begin(3)
    writer.string(1, name)
    writer.string(2, value)
    writer.end(start)
  }
  if (dynamicMetadata !== undefined) writeStruct(writer, 6, dynamicMetadata)
  return writer.take()
}

function writeStatus({ code, currentLimit, limitRemaining, secondsUntilReset }: StatusAnswer): void {
  const start = writer.begin(2)
  writer.uint(1, code)
  if (currentLimit !== undefined) {
    const { requestsPerUnit, unit, name } = currentLimit
    const within = writer.begin(2)
    writer.uint(1, requestsPerUnit)
    writer.uint(2, unit)
    writer.string(3, name)
    writer.end(within)
  }
  writer.uint(3, limitRemaining)
  if (secondsUntilReset !== undefined) {
    const within = writer.begin(4)
    writer.uint(1, secondsUntilReset)
    writer.end(within)
  }
  writer.end(start)
}
