import { ServiceError } from '../../errors.ts'

/** What follows a tag. */
export const WIRE = { VARINT: 0, BITS_64: 1, BYTES: 2, START_GROUP: 3, END_GROUP: 4, BITS_32: 5 } as const

/**
 * Reads the fields of a message of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/).
 * @throws ServiceError `ERR_INVALID_BODY` from every method, where the bytes are no message
 */
export class FieldReader {
  readonly #bytes: Buffer
  #end: number
  #at = 0
  /** The number and the wire type of the field that `next` has come to. */
  field = 0
  wire = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#end = bytes.length
  }

  /** Whether there is another field; its tag is read then. */
  next(): boolean {
    if (this.#at >= this.#end) return false
    const tag = this.uint32()
    this.field = tag >>> 3
    this.wire = tag & 7
    if (this.field === 0) throw noMessage('a field has the number 0')
    return true
  }

  /** Goes into the message that the field holds. @returns where the outer one ends, for `leave` */
  enter(): number {
    const outer = this.#end
    this.#end = this.#endOfBytes()
    return outer
  }

  leave(outer: number): void {
    this.#at = this.#end
    this.#end = outer
  }

  /** The low 32 bits of a number, as one that is not negative. */
  uint32(): number {
    const byte = this.#bytes[this.#at] as number
    if (byte < 0x80 && this.#at < this.#end) {
      this.#at++
      return byte
    }
    return this.#longVarint()[0]
  }

  /** 64 bits, not negative; the nearest number that JavaScript has. */
  uint64(): number {
    const [low, high] = this.#longVarint()
    return high * 2 ** 32 + low
  }

  bool(): boolean {
    const [low, high] = this.#longVarint()
    return (low | high) !== 0
  }

  /** Strict: what replaces bytes that are no UTF-8 would count two users as one. */
  string(): string {
    const end = this.#endOfBytes()
    const start = this.#at
    this.#at = end
    for (let at = start; at < end; at++) {
      if ((this.#bytes[at] as number) >= 0x80) return decoded(this.#bytes.subarray(start, end))
    }
    return this.#bytes.toString('latin1', start, end)
  }

  /** Goes past the value of a field that nobody reads. */
  skip(): void {
    const { field, wire } = this
    if (wire === WIRE.VARINT) this.#longVarint()
    else if (wire === WIRE.BYTES) this.#at = this.#endOfBytes()
    else if (wire === WIRE.BITS_64) this.#forward(8)
    else if (wire === WIRE.BITS_32) this.#forward(4)
    else if (wire === WIRE.START_GROUP) this.#skipGroup(field, MOST_GROUPS)
    else throw noMessage(`a field has the wire type ${wire}`)
  }

  /** Groups can stand in one another; so many as this is none of ours. */
  #skipGroup(field: number, most: number): void {
    if (most === 0) throw noMessage('its groups are too deep')
    while (this.next()) {
      if (this.wire === WIRE.START_GROUP) this.#skipGroup(this.field, most - 1)
      else if (this.wire !== WIRE.END_GROUP) this.skip()
      else if (this.field === field) return
      else throw noMessage('a group ends that has not begun')
    }
    throw noMessage('a group does not end')
  }

  #endOfBytes(): number {
    const length = this.uint32()
    this.#need(length)
    return this.#at + length
  }

  #forward(bytes: number): void {
    this.#need(bytes)
    this.#at += bytes
  }

  #need(bytes: number): void {
    if (bytes > this.#end - this.#at) throw noMessage('it ends within a field')
  }

  /** The low and the high 32 bits. */
  #longVarint(): [number, number] {
    let low = 0
    let high = 0
    for (let shift = 0; shift < 70; shift += 7) {
      this.#need(1)
      const byte = this.#bytes[this.#at++] as number
      const bits = byte & 0x7f
      if (shift < 32) low |= bits << shift
      if (shift > 28) high |= bits << (shift - 32)
      else if (shift === 28) high |= bits >>> 4
      if (byte < 0x80) return [low >>> 0, high >>> 0]
    }
    throw noMessage('a number has more than ten bytes')
  }
}

const MOST_GROUPS = 32

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decoded(bytes: Buffer): string {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    throw noMessage('a text is no UTF-8')
  }
}

function noMessage(reason: string): ServiceError {
  const expected = 'one of Protocol Buffers'
  return new ServiceError('ERR_INVALID_BODY', `message: expected ${expected}; ${reason}`, {
    field: 'message',
    expected,
  })
}
