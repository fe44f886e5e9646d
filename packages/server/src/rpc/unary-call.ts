import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { answerFailure, beginAnswer, OK_TRAILERS } from './answer-headers.ts'
import type { Answering, Arriving, CallWatch } from './call-watch.ts'
import { checkEncoding, inflated } from './compression.ts'
import { MessageReader, PREFIX_BYTES, type RawMessage } from './messages.ts'
import type { UnaryMethod } from './method.ts'
import { RpcError, STATUS } from './status.ts'
import { timeoutMs } from './timeout.ts'

/** The most bytes of a message. A request of Envoy with its headers is a few thousand. */
const MOST_MESSAGE_BYTES = 1024 * 1024

/** A call with one message each way. */
export class UnaryCall implements Arriving, Answering {
  readonly stream: ServerHttp2Stream
  readonly since: number
  /** By the monotonic clock; infinite where the client has none. Milliseconds. */
  deadline = Number.POSITIVE_INFINITY
  readonly #method: UnaryMethod
  readonly #watch: CallWatch
  readonly #encoding: string | undefined
  readonly #timeout: string | undefined
  #message: RawMessage | undefined
  #reader: MessageReader | undefined
  #held = 0
  #isOver = false

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, method: UnaryMethod, watch: CallWatch) {
    this.stream = stream
    this.since = watch.looks
    this.#method = method
    this.#watch = watch
    this.#encoding = headers['grpc-encoding'] as string | undefined
    this.#timeout = headers['grpc-timeout'] as string | undefined
  }

  begin(): void {
    const { stream } = this
    this.#watch.arriving(this)
    stream.on('data', (chunk: Buffer) => this.#take(chunk))
    stream.on('end', () => this.#end())
    try {
      if (this.#encoding !== undefined) checkEncoding(this.#encoding)
      if (this.#timeout !== undefined) this.deadline = deadlineOf(this.#timeout)
    } catch (error) {
      this.#refuse(error as RpcError)
    }
  }

  /** The client waits no longer, or has not sent its message in time. */
  expire(): void {
    const [status, message] =
      this.#message === undefined
        ? [STATUS.CANCELLED, 'the message did not come in time']
        : [STATUS.DEADLINE_EXCEEDED, 'the deadline passed before the answer']
    this.#fail(new RpcError(status, message))
  }

  #take(chunk: Buffer): void {
    if (this.#isOver) return
    // Most messages come in one piece.
    if (this.#reader === undefined && this.#message === undefined && isOneMessage(chunk)) {
      this.#message = { isCompressed: false, bytes: chunk.subarray(PREFIX_BYTES) }
      return
    }
    try {
      const [message, ...others] = this.#takePart(chunk)
      if (message === undefined) return
      if (this.#message !== undefined || others.length > 0) throw notOne()
      this.#message = message
    } catch (error) {
      this.#refuse(error as RpcError)
    }
  }

  #takePart(chunk: Buffer): RawMessage[] {
    if (this.#reader === undefined) {
      this.#reader = new MessageReader(MOST_MESSAGE_BYTES)
      this.stream.once('close', () => this.#hold(0))
    }
    const messages = this.#reader.take(chunk)
    this.#hold(this.#reader.held)
    return messages
  }

  #hold(bytes: number): void {
    const more = bytes - this.#held
    this.#held = bytes
    this.#watch.hold(more)
  }

  #end(): void {
    this.#watch.arrived(this)
    if (this.#isOver || this.stream.aborted) return
    const message = this.#message
    if (this.#held > 0 || message === undefined) {
      this.#refuse(this.#held > 0 ? new RpcError(STATUS.INTERNAL, 'a message ended before its length') : notOne())
      return
    }
    if (this.deadline !== Number.POSITIVE_INFINITY) {
      if (this.deadline <= performance.now()) {
        this.expire()
        return
      }
      this.#watch.answering(this)
    }
    this.#answer(message).then(
      (answer) => this.#reply(answer),
      (error: unknown) => this.#fail(error),
    )
  }

  #answer(message: RawMessage): Promise<Buffer> {
    if (!message.isCompressed) return this.#method.answer(message.bytes)
    return inflated(message, this.#encoding, MOST_MESSAGE_BYTES).then((bytes) => this.#method.answer(bytes))
  }

  #reply(answer: Buffer): void {
    const { stream } = this
    if (this.deadline !== Number.POSITIVE_INFINITY) this.#watch.answered(this)
    if (this.#isOver || stream.destroyed || stream.closed) return
    this.#isOver = true
    beginAnswer(stream)
    stream.on('wantTrailers', endWell)
    stream.end(answer)
  }

  #fail(error: unknown): void {
    if (this.deadline !== Number.POSITIVE_INFINITY) this.#watch.answered(this)
    if (this.#isOver) return
    this.#isOver = true
    answerFailure(
      this.stream,
      error instanceof RpcError ? error : new RpcError(STATUS.INTERNAL, 'a fault of the service'),
    )
  }

  #refuse(error: RpcError): void {
    this.#isOver = true
    this.#watch.refuse(this.stream, error)
  }
}

function notOne(): RpcError {
  return new RpcError(STATUS.UNIMPLEMENTED, 'expected one message')
}

function isOneMessage(chunk: Buffer): boolean {
  const length = chunk.length - PREFIX_BYTES
  return length >= 0 && chunk[0] === 0 && chunk.readUInt32BE(1) === length && length <= MOST_MESSAGE_BYTES
}

/** One for all calls: a listener that is made for each costs more. */
function endWell(this: ServerHttp2Stream): void {
  this.sendTrailers(OK_TRAILERS)
}

function deadlineOf(timeout: string): number {
  const ms = timeoutMs(timeout)
  if (ms === undefined) {
    throw new RpcError(
      STATUS.INVALID_ARGUMENT,
      'grpc-timeout: expected at most eight digits and one of H, M, S, m, u, n',
    )
  }
  return performance.now() + ms
}
