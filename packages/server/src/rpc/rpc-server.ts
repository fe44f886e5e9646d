import { once } from 'node:events'
import { createSecureServer, createServer, type Http2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionLimits, Connections } from './connections.ts'
import { IncomingCalls } from './incoming-calls.ts'
import type { Methods } from './method.ts'
import type { RpcError } from './status.ts'

/** The certificate and key of a server, and whose clients it takes; PEM. */
export interface TlsMaterial {
  readonly cert: Buffer
  readonly key: Buffer
  /** The authorities of the clients; without it they need no certificate. */
  readonly ca?: Buffer
}

export interface RpcServerOptions {
  readonly methods: Methods
  readonly tls?: TlsMaterial | undefined
  readonly connections: ConnectionLimits
  /** Is told of calls that end before their method was asked. */
  readonly onRefusal: (error: RpcError) => void
}

/** What one connection can ask at a time. */
const OPTIONS = {
  settings: { maxConcurrentStreams: 1000, enablePush: false },
  // Megabytes. Node's 10 are less than so many calls with headers may take.
  maxSessionMemory: 64,
}
/** How long a client has to begin. Milliseconds. */
const HANDSHAKE_MS = 10_000
/** How long what clients had sent before they were asked to go may be on its way. Milliseconds. */
const FAREWELL_MS = 100

/** A server of gRPC on HTTP/2, over TLS or without. */
export class RpcServer {
  readonly #server: Http2Server
  readonly #calls: IncomingCalls
  readonly #connections: Connections
  #closing: Promise<void> | undefined

  constructor({ methods, tls, connections, onRefusal }: RpcServerOptions) {
    this.#calls = new IncomingCalls(methods, onRefusal)
    this.#connections = new Connections(connections)
    this.#server = tls === undefined ? createServer(OPTIONS) : createSecureServer(secureOptions(tls))
    this.#server.on('session', this.#connections.add)
    this.#server.on('stream', this.#calls.take)
    // A connection that breaks, or is none of HTTP/2, has ended: there is nobody to tell.
    this.#server.on('sessionError', () => undefined)
  }

  /** Resolves to the port that was taken. Rejects with the error of the system. */
  async listen(host: string, port: number): Promise<number> {
    this.#server.listen({ host, port })
    await once(this.#server, 'listening')
    // What cannot be accepted now, for want of files, may be later.
    this.#server.on('error', () => undefined)
    return (this.#server.address() as AddressInfo).port
  }

  /** Asks clients to go (GOAWAY), and waits for what is in flight. Cuts what is still there after so many ms. */
  close(patienceMs: number): Promise<void> {
    this.#closing ??= this.#close(patienceMs)
    return this.#closing
  }

  async #close(patienceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    const cut = setTimeout(() => this.#connections.cut(), patienceMs)
    this.#connections.warn()
    this.#calls.endStreaming()
    await Promise.race([sleep(FAREWELL_MS), closed])
    this.#connections.end()
    await closed
    clearTimeout(cut)
    this.#connections.close()
    this.#calls.close()
  }
}

function secureOptions({ cert, key, ca }: TlsMaterial) {
  const mutual = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true }
  return { ...OPTIONS, cert, key, ...mutual, ALPNProtocols: ['h2'], handshakeTimeout: HANDSHAKE_MS }
}
