import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { CallWatch } from './call-watch.ts'
import type { Methods } from './method.ts'
import { RpcError, STATUS } from './status.ts'
import { StreamingCall } from './streaming-call.ts'
import { UnaryCall } from './unary-call.ts'

/** Takes calls from the streams of all connections. */
export class IncomingCalls {
  readonly #methods: Methods
  readonly #watch: CallWatch
  readonly #streaming = new Set<StreamingCall>()

  /** @param onRefusal is told of calls that end before their method was asked */
  constructor(methods: Methods, onRefusal: (error: RpcError) => void) {
    this.#methods = methods
    this.#watch = new CallWatch(onRefusal)
  }

  /** Begins the call of a stream. */
  readonly take = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void => {
    stream.on('error', ignore)
    if (headers[':method'] !== 'POST') this.#refuseHttp(stream, 405, { allow: 'POST' })
    else if (!isProtocolBuffers(headers['content-type'])) this.#refuseHttp(stream, 415, {})
    else this.#begin(stream, headers, headers[':path'] as string)
  }

  #begin(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, path: string): void {
    const method = this.#methods.get(path)
    if (method === undefined) {
      const message = `there is no method ${path.slice(0, 200)}`
      this.#watch.refuse(stream, new RpcError(STATUS.UNIMPLEMENTED, message))
    } else if (method.kind === 'unary') new UnaryCall(stream, headers, method, this.#watch).begin()
    else this.#stream(stream, new StreamingCall(stream, headers, method))
  }

  /** Ends the calls that would never end by themselves. */
  endStreaming(): void {
    for (const call of this.#streaming) call.fail(new RpcError(STATUS.UNAVAILABLE, 'the service is shutting down'))
  }

  close(): void {
    this.#watch.close()
  }

  #stream(stream: ServerHttp2Stream, call: StreamingCall): void {
    this.#streaming.add(call)
    stream.once('close', () => this.#streaming.delete(call))
    call.begin()
  }

  /** What is no call of gRPC at all gets a status of HTTP. */
  #refuseHttp(stream: ServerHttp2Stream, status: number, headers: Record<string, string>): void {
    stream.respond({ ':status': status, ...headers }, { endStream: true })
    this.#watch.drain(stream)
  }
}

function ignore(): void {
  // A stream that breaks has ended: there is nobody to tell.
}

/** `application/grpc`, or with `+proto`, whatever parameters follow. */
function isProtocolBuffers(contentType: string | undefined): boolean {
  return contentType === 'application/grpc' || /^application\/grpc(?:\+proto)?\s*(?:;|$)/i.test(contentType ?? '')
}
