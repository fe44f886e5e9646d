import { PREFIX_BYTES } from '../../rpc/messages.ts'

/**
 * Writes the fields of a message of Protocol Buffers, ready to be sent. Fields with their default are left out, as proto3
 * has it. One writer serves all messages, one after the other.
 */
export class MessageWriter {
  #bytes = Buffer.allocUnsafeSlow(1024)
  #at = PREFIX_BYTES

  /** The message with its prefix; the writer begins anew. */
  take(): Buffer {
    const length = this.#at - PREFIX_BYTES
    const message = Buffer.allocUnsafe(this.#at)
    this.#bytes.copy(message, 0, 0, this.#at)
    message[0] = 0
    message.writeUInt32BE(length, 1)
    this.reset()
    return message
  }

  /** Begins anew. */
  reset(): void {
    this.#at = PREFIX_BYTES
  }

  /** An integer that is not negative. */
  uint(field: number, value: number): void {
    if (value === 0) return
    this.#tag(field, 0)
    this.#varint(value)
  }

  /** A boolean that is written whichever it is, as in a `oneof`. */
  presentBool(field: number, value: boolean): void {
    this.#tag(field, 0)
    this.#varint(value ? 1 : 0)
  }

  /** A number that is written even if it is 0. */
  presentDouble(field: number, value: number): void {
    this.#tag(field, 1)
    this.#reserve(8)
    this.#at = this.#bytes.writeDoubleLE(value, this.#at)
  }

  string(field: number, text: string): void {
    if (text !== '') this.presentString(field, text)
  }

  /** A text that is written even if it is empty. */
  presentString(field: number, text: string): void {
    this.#tag(field, 2)
    this.#text(text)
  }

  /** Begins a message in this one. @returns what `end` wants */
  begin(field: number): number {
    this.#tag(field, 2)
    this.#reserve(1)
    // Most lengths take one byte; room for more is made at the end.
    this.#at++
    return this.#at
  }

  end(start: number): void {
    const length = this.#at - start
    if (length < 0x80) {
      this.#bytes[start - 1] = length
      return
    }
    const more = varintBytes(length) - 1
    this.#reserve(more)
    this.#bytes.copyWithin(start + more, start, this.#at)
    this.#at = start - 1
    this.#varint(length)
    this.#at += length
  }

  #text(text: string): void {
    const { length } = text
    this.#reserve(length * 3 + 5)
    const start = this.#at
    if (length < 0x80) {
      const bytes = this.#bytes
      let at = start + 1
      for (let i = 0; i < length; i++) {
        const code = text.charCodeAt(i)
        if (code >= 0x80) break
        bytes[at++] = code
      }
      if (at === start + 1 + length) {
        bytes[start] = length
        this.#at = at
        return
      }
    }
    this.#varint(Buffer.byteLength(text))
    this.#at += this.#bytes.write(text, this.#at)
  }

  #tag(field: number, wire: number): void {
    this.#reserve(10)
    this.#varint((field << 3) | wire)
  }

  /** Up to 2^53. */
  #varint(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#at++] = rest
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + bytes))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++
  return bytes
}
