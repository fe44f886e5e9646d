import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** What Node reports of a request that it could not read. */
const STATUS: Record<string, { status: number; detail: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'expected headers of at most 65,536 bytes together' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'expected the whole request within 10 seconds' },
}

/** Answers bytes that are not HTTP with a problem document, and closes: what follows cannot be read either. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return
  const { status, detail } = STATUS[error.code ?? ''] ?? { status: 400, detail: 'expected an HTTP/1.1 request' }
  const title = STATUS_CODES[status] ?? 'Error'
  const body = JSON.stringify({ type: 'about:blank', title, status, detail, code: 'ERR_MALFORMED_REQUEST' })
  const head = `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}`
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`)
}
