import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RequestLimitOptions } from 'tidegate/http'

/** The options that every adapter has, without those that a framework's own request is handed to. */
export interface SharedOptions
  extends Pick<
    RequestLimitOptions<never, never>,
    | 'limit'
    | 'window'
    | 'algorithm'
    | 'name'
    | 'limits'
    | 'gate'
    | 'store'
    | 'skipSuccessfulRequests'
    | 'skipFailedRequests'
    | 'standardHeaders'
    | 'legacyHeaders'
    | 'jitter'
    | 'onStoreError'
    | 'onStoreFailure'
    | 'bypassHeader'
    | 'trustProxy'
    | 'ipv6Prefix'
    | 'warn'
  > {
  /** Requests are counted by this header, and by the client's address where they have none. */
  keyHeader?: string
  /** Requests that have this header are not limited. */
  skipHeader?: string
  /** The header that says what a request costs, found out a while later. */
  costHeader?: string
  /** Refused requests are answered this, by a handler of the framework's own kind. */
  answer?: string
  /** Told of each refusal. */
  onLimited?: (status: number) => void
}

/**
 * An application under test. It answers `ok` at `/`, 500 at `/fail`, what was posted at `/echo`, nothing until `release`
 * at `/slow`, and the rest as the framework does.
 */
export interface Application {
  readonly server: Server
  /** How many requests have reached a handler. */
  readonly handled: () => number
  close(): Promise<void>
}

/** One framework with our adapter. */
export interface Framework {
  readonly name: string
  start(options: SharedOptions): Promise<Application>
}

/** What the handlers of an application do, whatever its framework. */
export class Handlers {
  handled = 0
  readonly #waiting: (() => void)[] = []

  ok(): string {
    this.handled += 1
    return 'ok'
  }

  fail(): never {
    this.handled += 1
    throw new Error('a handler that fails')
  }

  /** Waits until another request asks for its release. */
  async slow(): Promise<string> {
    this.handled += 1
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return 'slow'
  }

  release(): string {
    for (const resolve of this.#waiting.splice(0)) resolve()
    return 'released'
  }
}

/** The options as an adapter takes them, given how its framework's requests show a header. */
export function adapterOptions<Request, Response>(
  { keyHeader, skipHeader, costHeader, answer: _, onLimited, ...options }: SharedOptions,
  headerOf: (request: Request, name: string) => string | undefined,
): RequestLimitOptions<Request, Response> {
  return {
    ...options,
    ...(keyHeader !== undefined && { keyGenerator: (request: Request) => headerOf(request, keyHeader) }),
    ...(skipHeader !== undefined && { skip: (request: Request) => headerOf(request, skipHeader) !== undefined }),
    ...(costHeader !== undefined && {
      cost: async (request: Request) => Number(await Promise.resolve(headerOf(request, costHeader) ?? 1)),
    }),
    ...(onLimited !== undefined && {
      onLimited: (_request: Request, { status }: { status: number }) => onLimited(status),
    }),
  }
}

/** The first value of a header of `node:http`. */
export function firstHeader(
  { headers }: { readonly headers: NodeJS.Dict<string | string[]> },
  name: string,
): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Listens on a free port of loopback; a WebSocket's handshake is answered beside the framework. */
export async function listen(server: Server): Promise<void> {
  acceptUpgrades(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
}

/** Answers a handshake, and then sends back what it gets: a WebSocket server as small as can be. */
export function acceptUpgrades(server: Server): void {
  server.on('upgrade', (_request, socket, head) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    socket.write(head)
    socket.pipe(socket)
  })
}

/** Ends a server and what is connected to it. */
export async function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise<void>((resolve) => server.close(() => resolve()))
}

export function portOf({ server }: Application): number {
  return (server.address() as AddressInfo).port
}
