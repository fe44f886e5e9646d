import { createServer, type Server, type Socket } from 'node:net'
import { cannotListen, urlOf } from '../commands/listen.ts'

/** So many connections wait at most while no worker is there. */
const MOST_WAITING = 1_000

/** Takes a connection; false where it cannot. */
type Taker = (socket: Socket) => boolean

/**
 * Takes connections and hands them out in turn. node:cluster would do so too, but it drops those that come while the last
 * worker stops to listen: here the port is closed first, and then each worker is told that no more will come.
 */
export class Acceptor {
  readonly #server: Server
  readonly #takers: Taker[] = []
  #waiting: Socket[] = []
  #next = 0

  constructor() {
    this.#server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined)
      this.#hand(socket)
    })
  }

  /** Resolves to the URL. @throws ServiceError `ERR_CANNOT_LISTEN` */
  async listen(host: string, port: number): Promise<string> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once('error', reject).listen({ host, port }, resolve)
      })
    } catch (cause) {
      throw cannotListen(host, port, cause)
    }
    return urlOf(this.#server)
  }

  add(taker: Taker): void {
    this.#takers.push(taker)
    this.handWaiting()
  }

  /** Offers the connections again that nobody could take. */
  handWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const socket of waiting) this.#hand(socket)
  }

  remove(taker: Taker): void {
    const place = this.#takers.indexOf(taker)
    if (place >= 0) this.#takers.splice(place, 1)
  }

  /** No more connections are taken. */
  close(): void {
    this.#server.close()
    for (const socket of this.#waiting.splice(0)) socket.destroy()
  }

  #hand(socket: Socket): void {
    for (let tried = 0; tried < this.#takers.length; tried++) {
      this.#next = (this.#next + 1) % this.#takers.length
      if (this.#takers[this.#next]?.(socket) === true) return
    }
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(socket)
    else socket.destroy()
  }
}
