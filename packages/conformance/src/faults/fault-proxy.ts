import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Link, type LinkFaults, SOUND } from './link.ts'

/** A TCP proxy on loopback between a client and a server, with the faults of a network. */
export interface FaultProxy {
  /** Where clients connect to. */
  readonly port: number
  /** How many connections are open. */
  readonly connections: number
  /** What connections suffer from now on, those that are open as well. What is not named is sound. */
  suffer(faults: Faults): void
  /** All is well again; what was held comes through. */
  heal(): void
  /** Cuts every connection with a reset. */
  cut(): void
  /** Ends the side of every connection that the client reads, and leaves the other open. */
  halfClose(): void
  close(): Promise<void>
}

export interface Faults extends Partial<Omit<LinkFaults, 'isHeld'>> {
  /** Nothing comes through: neither way, or what the client sends, or what the server answers. */
  readonly blackHole?: 'both' | 'requests' | 'replies'
  /** New connections are reset at once. */
  readonly refuses?: boolean
}

/**
 * Starts a proxy to a port of loopback.
 * @param random from 0 to 1, for jitter
 */
export async function startFaultProxy(target: number, random: () => number = Math.random): Promise<FaultProxy> {
  const pairs = new Set<Pair>()
  let faults: Faults = {}
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: false }, (client) => {
    if (faults.refuses) client.resetAndDestroy()
    else
      pairs.add(
        new Pair(
          client,
          target,
          () => faults,
          random,
          (pair) => pairs.delete(pair),
        ),
      )
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const suffer = (given: Faults) => {
    faults = given
    for (const pair of pairs) pair.renew()
  }
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return pairs.size
    },
    suffer,
    heal: () => suffer({}),
    cut: () => {
      for (const pair of pairs) pair.cut()
    },
    halfClose: () => {
      for (const pair of pairs) pair.halfClose()
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const pair of pairs) pair.cut()
      await closed
    },
  }
}

/** A client's connection, and the one to the server that belongs to it. */
class Pair {
  readonly #client: Socket
  readonly #links: readonly Link[]

  constructor(client: Socket, target: number, faults: () => Faults, random: () => number, onEnd: (pair: Pair) => void) {
    const server = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    client.setNoDelay(true)
    const link = (from: Socket, to: Socket, held: 'requests' | 'replies') => {
      return new Link(from, to, () => linkFaults(faults(), held), random)
    }
    this.#client = client
    this.#links = [link(client, server, 'requests'), link(server, client, 'replies')]
    const end = () => {
      for (const one of this.#links) one.stop()
      client.destroy()
      server.destroy()
      onEnd(this)
    }
    for (const socket of [client, server]) socket.on('error', end).once('close', end)
  }

  renew(): void {
    for (const link of this.#links) link.renew()
  }

  cut(): void {
    this.#client.resetAndDestroy()
  }

  halfClose(): void {
    this.#client.end()
  }
}

function linkFaults(
  { blackHole, latencyMs, jitterMs, bytesPerSecond }: Faults,
  held: 'requests' | 'replies',
): LinkFaults {
  return {
    latencyMs: latencyMs ?? SOUND.latencyMs,
    jitterMs: jitterMs ?? SOUND.jitterMs,
    bytesPerSecond: bytesPerSecond ?? SOUND.bytesPerSecond,
    isHeld: blackHole === 'both' || blackHole === held,
  }
}
