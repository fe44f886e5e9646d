import { constants, type ServerHttp2Stream } from 'node:http2'
import { answerFailure } from './answer-headers.ts'
import { RpcError, STATUS } from './status.ts'

/** The most bytes of all messages of which a part is missing. */
const MOST_HELD_BYTES = 64 * 1024 * 1024
/** How often it is looked at calls that take long to arrive. Milliseconds. */
const LOOK_MS = 1000
/** How many looks a call may take to arrive. */
const MOST_LOOKS = 10
/** How often it is looked at calls whose deadline may have passed. Milliseconds. */
const DEADLINE_LOOK_MS = 5

/** A call that has not been heard to its end. */
export interface Arriving {
  /** The look that it came after. */
  readonly since: number
  readonly stream: ServerHttp2Stream
  expire(): void
}

/** A call that is being answered, and its client's deadline by the monotonic clock. Milliseconds. */
export interface Answering {
  readonly deadline: number
  expire(): void
}

/** Watches the calls of all connections: ends those that take too long, and bounds what slow ones hold. No timer per call. */
export class CallWatch {
  readonly #onRefusal: (error: RpcError) => void
  // In the order that they came: whoever looks for the oldest stops at the first that is young.
  readonly #arriving = new Set<Arriving>()
  readonly #answering = new Set<Answering>()
  readonly #timer: NodeJS.Timeout
  #deadlineTimer: NodeJS.Timeout | undefined
  #looks = 0
  #held = 0

  /** @param onRefusal is told of calls that end before their method was asked */
  constructor(onRefusal: (error: RpcError) => void) {
    this.#onRefusal = onRefusal
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref()
  }

  get looks(): number {
    return this.#looks
  }

  arriving(call: Arriving): void {
    this.#arriving.add(call)
  }

  arrived(call: Arriving): void {
    this.#arriving.delete(call)
  }

  answering(call: Answering): void {
    this.#answering.add(call)
    this.#deadlineTimer ??= setTimeout(() => this.#lookAtDeadlines(), DEADLINE_LOOK_MS).unref()
  }

  answered(call: Answering): void {
    this.#answering.delete(call)
  }

  /** @throws RpcError `RESOURCE_EXHAUSTED` where no more can be held */
  hold(bytes: number): void {
    this.#held += bytes
    if (bytes > 0 && this.#held > MOST_HELD_BYTES) {
      throw new RpcError(STATUS.RESOURCE_EXHAUSTED, 'too many bytes wait for the rest of their message')
    }
  }

  /** Ends a call that was not heard to its end with a status. */
  refuse(stream: ServerHttp2Stream, error: RpcError): void {
    this.#onRefusal(error)
    answerFailure(stream, error)
    this.drain(stream)
  }

  /** Throws away what still comes of a call that has been answered, and ends it where that takes too long. */
  drain(stream: ServerHttp2Stream): void {
    stream.resume()
    if (stream.readableEnded || stream.destroyed) return
    const call = { stream, since: this.#looks, expire: () => undefined }
    this.#arriving.add(call)
    stream.once('close', () => this.#arriving.delete(call))
  }

  close(): void {
    clearInterval(this.#timer)
    clearTimeout(this.#deadlineTimer)
  }

  #look(): void {
    this.#looks++
    for (const call of this.#arriving) {
      const isGone = call.stream.destroyed
      if (!isGone && call.since > this.#looks - MOST_LOOKS) break
      this.#arriving.delete(call)
      if (isGone) continue
      call.expire()
      call.stream.close(constants.NGHTTP2_CANCEL)
    }
  }

  #lookAtDeadlines(): void {
    this.#deadlineTimer = undefined
    const now = performance.now()
    for (const call of this.#answering) {
      if (call.deadline > now) continue
      this.#answering.delete(call)
      call.expire()
    }
    if (this.#answering.size === 0) return
    this.#deadlineTimer = setTimeout(() => this.#lookAtDeadlines(), DEADLINE_LOOK_MS).unref()
  }
}
