import type { Socket } from 'node:net'
import { type Problem, problemOfStatus } from './problem.ts'
import { endWithProblem } from './raw-answer.ts'

/** Answers bytes that are not HTTP with a problem document, and closes: what follows cannot be read either. */
export function clientErrorAnswer(requestTimeoutMs: number): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    if (socket.writable) endWithProblem(socket, problemOfReport(error.code, requestTimeoutMs))
    // Answered before, and still not closed by the client.
    else socket.destroy()
  }
}

/** What Node reports of a request that it could not read. */
function problemOfReport(report: string | undefined, requestTimeoutMs: number): Problem {
  if (report === 'HPE_HEADER_OVERFLOW') {
    return problemOfStatus(431, 'expected headers of at most 65,536 bytes together')
  }
  if (report === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return problemOfStatus(408, `expected the whole request within ${requestTimeoutMs / 1000} seconds`)
  }
  return problemOfStatus(400, 'expected an HTTP/1.1 request')
}
