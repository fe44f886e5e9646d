import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { beginAnswer, OK_TRAILERS, trailersOf } from './answer-headers.ts'
import { checkEncoding, inflated } from './compression.ts'
import { framed, MessageReader, type RawMessage } from './messages.ts'
import type { AnswerStream, QuestionListener, StreamingMethod } from './method.ts'
import { RpcError, STATUS } from './status.ts'

/** The most bytes of one message of a stream: these ask for a name each. */
const MOST_BYTES = 64 * 1024

/** A call with any number of messages each way. While its answers are not read, nothing more of it is. */
export class StreamingCall implements AnswerStream {
  readonly #stream: ServerHttp2Stream
  readonly #encoding: string | undefined
  readonly #reader = new MessageReader(MOST_BYTES)
  readonly #method: StreamingMethod
  #trailers: OutgoingHttpHeaders = OK_TRAILERS
  #isFull = false
  #taken: Promise<void> = Promise.resolve()

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, method: StreamingMethod) {
    this.#stream = stream
    this.#encoding = headers['grpc-encoding'] as string | undefined
    this.#method = method
  }

  begin(): void {
    const stream = this.#stream
    beginAnswer(stream)
    stream.on('wantTrailers', () => {
      stream.sendTrailers(this.#trailers)
      // A client that has not ended its side is not waited for.
      setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR))
    })
    const listener = this.#method.open(this)
    stream.once('close', () => listener.close())
    stream.on('data', (chunk: Buffer) => {
      this.#taken = this.#take(chunk, listener)
    })
    // The end can be told while the last messages are still being read.
    stream.once('end', () => void this.#taken.then(() => this.#told(() => listener.end())))
    this.#told(() => checkEncoding(this.#encoding))
  }

  send(message: Uint8Array): void {
    if (!this.#stream.writable || this.#stream.write(framed(message))) return
    this.#isFull = true
    this.#stream.once('drain', () => {
      this.#isFull = false
      this.#stream.resume()
    })
  }

  end(): void {
    if (this.#stream.writable) this.#stream.end()
  }

  fail(error: Error): void {
    if (!this.#stream.writable) return
    const told = error instanceof RpcError ? error : new RpcError(STATUS.INTERNAL, 'a fault of the service')
    this.#trailers = trailersOf(told)
    this.#stream.end()
  }

  async #take(chunk: Buffer, listener: QuestionListener): Promise<void> {
    if (!this.#stream.writable) return
    this.#stream.pause()
    try {
      for (const message of this.#reader.take(chunk)) await listener.message(await this.#bytesOf(message))
    } catch (error) {
      this.fail(error as Error)
    }
    if (!this.#isFull) this.#stream.resume()
  }

  async #bytesOf(message: RawMessage): Promise<Buffer> {
    return message.isCompressed ? inflated(message, this.#encoding, MOST_BYTES) : message.bytes
  }

  #told(tell: () => void): void {
    try {
      tell()
    } catch (error) {
      this.fail(error as Error)
    }
  }
}
