import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Problem } from './problem.ts'

/** How long a client may take to read an answer and close, before its connection is cut. Milliseconds. */
const LINGER_MS = 1000

/**
 * Answers with a problem document where Node has a connection but no response, and closes. What the
 * client is still sending is read for a while: cutting it off at once would take the answer with it.
 */
export function endWithProblem(socket: Duplex, problem: Problem, headers: Readonly<Record<string, string>> = {}): void {
  // Node has let go of the connection: without a listener an 'error' would end the process.
  socket.on('error', () => undefined)
  const body = JSON.stringify(problem)
  const fields = {
    ...headers,
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`)
  socket.resume()
  const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(cut))
}
