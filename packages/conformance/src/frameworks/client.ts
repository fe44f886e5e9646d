import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'

/** One answer, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Ask {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** A client of one server that keeps its connections, so many at most. */
export class Client {
  readonly #port: number
  readonly #agent: Agent

  constructor(port: number, connections = 1) {
    this.#port = port
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  ask(path = '/', { method = 'GET', headers = {}, body }: Ask = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, agent: this.#agent, path, method, headers }
      request(options, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.once('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text })
        })
        response.once('error', reject)
      })
        .once('error', reject)
        .end(body)
    })
  }

  /** Sends a request, and goes away as soon as `when` resolves, without an answer. */
  async abandon(path: string, when: () => Promise<void>): Promise<void> {
    const socket = connect(this.#port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    await when()
    socket.destroy()
  }

  /** The statuses of requests that are sent one after the other. */
  async statuses(count: number, path = '/', ask: Ask = {}): Promise<number[]> {
    const statuses: number[] = []
    for (let i = 0; i < count; i++) statuses.push((await this.ask(path, ask)).status)
    return statuses
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Sends bytes over one connection; resolves to all that came once `enough` says so. */
export function exchange(port: number, bytes: string, enough: (received: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    let received = ''
    socket.setTimeout(10_000, () => socket.destroy(new Error(`not answered after: ${received}`)))
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (enough(received)) socket.destroy()
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(received))
  })
}
