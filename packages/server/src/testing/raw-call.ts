import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2'

/** What came of a call: the status of HTTP, all headers and trailers together, and the bytes. */
export interface RawAnswer {
  readonly http: number | undefined
  readonly status: number | undefined
  readonly message: string
  readonly headers: Record<string, unknown>
  readonly body: Buffer
  /** The code that the stream was reset with; 0 where it was not. */
  readonly reset: number
}

/** A stream with the headers of a call; others go before them. */
export function openCall(
  session: ClientHttp2Session,
  path: string,
  headers: OutgoingHttpHeaders = {},
): ClientHttp2Stream {
  const usual = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
  return session.request({ ...usual, ...headers })
}

/** Resolves when the stream is closed, however it was. */
export function answerOf(stream: ClientHttp2Stream): Promise<RawAnswer> {
  const headers: Record<string, unknown> = {}
  const chunks: Buffer[] = []
  stream.on('response', (received) => Object.assign(headers, received))
  stream.on('trailers', (received) => Object.assign(headers, received))
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  stream.on('error', () => undefined)
  return new Promise((resolve) => {
    stream.once('close', () => {
      const status = headers['grpc-status'] === undefined ? undefined : Number(headers['grpc-status'])
      const message = decodeURIComponent(String(headers['grpc-message'] ?? ''))
      const http = headers[':status'] as number | undefined
      resolve({ http, status, message, headers, body: Buffer.concat(chunks), reset: stream.rstCode ?? 0 })
    })
  })
}
