import type { OutgoingHttpHeaders, ServerHttp2Stream, ServerStreamResponseOptions } from 'node:http2'
import { percentEncoded, type RpcError, STATUS } from './status.ts'

const HEADERS: OutgoingHttpHeaders = { ':status': 200, 'content-type': 'application/grpc' }
// No date: nobody caches these answers, and it would be made for each.
const WITH_TRAILERS = { waitForTrailers: true, sendDate: false } as ServerStreamResponseOptions
const WITHOUT_MORE = { endStream: true, sendDate: false } as ServerStreamResponseOptions

/** Begins an answer that ends with trailers. */
export function beginAnswer(stream: ServerHttp2Stream): void {
  stream.respond(HEADERS, WITH_TRAILERS)
}

/** Answers with an error alone, where nothing has been answered yet and there is still who listens. */
export function answerFailure(stream: ServerHttp2Stream, error: RpcError): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return
  stream.respond({ ...HEADERS, ...trailersOf(error) }, WITHOUT_MORE)
}

export const OK_TRAILERS: OutgoingHttpHeaders = { 'grpc-status': STATUS.OK }

export function trailersOf({ status, message, metadata }: RpcError): OutgoingHttpHeaders {
  return { 'grpc-status': status, 'grpc-message': percentEncoded(message), ...metadata }
}
