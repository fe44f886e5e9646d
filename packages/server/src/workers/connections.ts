import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** The connections that one process has been handed, for an HTTP server that does not listen itself. */
export class Connections {
  readonly #server: Server
  readonly #open = new Set<Socket>()

  constructor(server: Server) {
    this.#server = server
    // Node begins to look after time limits when a server listens.
    server.emit('listening')
  }

  take(socket: Socket): void {
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    // A client that has said all may still be answered.
    socket.allowHalfOpen = true
    this.#server.emit('connection', socket)
    socket.resume()
  }

  /** Ends those that are idle, and waits until the others have been answered. Cuts what is still there after so many ms. */
  async close(patienceMs: number): Promise<void> {
    this.#server.closeIdleConnections()
    const cut = setTimeout(() => this.#server.closeAllConnections(), patienceMs)
    await Promise.all([...this.#open].map((socket) => new Promise((resolve) => socket.once('close', resolve))))
    clearTimeout(cut)
  }
}
