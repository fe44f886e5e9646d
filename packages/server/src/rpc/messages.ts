import { RpcError, STATUS } from './status.ts'

/** What stands before a message: whether it is compressed, and its length in four bytes. */
export const PREFIX_BYTES = 5

/** A message of a call, as it came. */
export interface RawMessage {
  readonly isCompressed: boolean
  readonly bytes: Buffer
}

/** Takes the messages of a call out of its chunks, whatever they are cut into. */
export class MessageReader {
  readonly #most: number
  #kept: Buffer = EMPTY
  #length = 0

  /** @param most the most bytes of a message */
  constructor(most: number) {
    this.#most = most
  }

  /** How many bytes wait for the rest of their message. */
  get held(): number {
    return this.#length
  }

  /**
   * The messages that a chunk completes.
   * @throws RpcError `RESOURCE_EXHAUSTED` for a message that is too long, before its bytes are kept
   */
  take(chunk: Buffer): RawMessage[] {
    let bytes = this.#length === 0 ? chunk : this.#append(chunk)
    const messages: RawMessage[] = []
    while (bytes.length >= PREFIX_BYTES) {
      const length = bytes.readUInt32BE(1)
      if (length > this.#most) throw tooLong(String(length), this.#most)
      const end = PREFIX_BYTES + length
      if (bytes.length < end) break
      messages.push({ isCompressed: readFlag(bytes[0]), bytes: bytes.subarray(PREFIX_BYTES, end) })
      bytes = bytes.subarray(end)
    }
    if (messages.length > 0 || this.#length === 0) this.#kept = bytes
    this.#length = bytes.length
    return messages
  }

  /** Grows by doubling: neither many small chunks nor a length that is only claimed cost more than what has come. */
  #append(chunk: Buffer): Buffer {
    const length = this.#length + chunk.length
    if (length > this.#kept.length) {
      const larger = Buffer.allocUnsafe(length * 2)
      this.#kept.copy(larger, 0, 0, this.#length)
      this.#kept = larger
    }
    chunk.copy(this.#kept, this.#length)
    return this.#kept.subarray(0, length)
  }
}

const EMPTY = Buffer.alloc(0)

function readFlag(flag: number | undefined): boolean {
  if (flag === 0 || flag === 1) return flag === 1
  throw new RpcError(STATUS.INTERNAL, `message: expected a flag of 0 or 1 before it; received ${flag}`)
}

export function tooLong(received: string, most: number): RpcError {
  return new RpcError(STATUS.RESOURCE_EXHAUSTED, `message: expected at most ${most} bytes; received ${received}`)
}

/** A message with its prefix, not compressed. */
export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length)
  bytes[0] = 0
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, PREFIX_BYTES)
  return bytes
}
