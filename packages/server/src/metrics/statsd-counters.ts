import { createSocket, type Socket } from 'node:dgram'

/** Where a statsd listens. */
export interface StatsdAddress {
  readonly host: string
  readonly port: number
}

/** How often counts are sent. Milliseconds; that of envoyproxy/ratelimit. */
const FLUSH_MS = 10_000
/** The most names between two flushes: what clients send can be part of one. */
const MOST_NAMES = 10_000
/** What fits into one packet of any network. Bytes. */
const PACKET = 1400
const PREFIX = 'ratelimit.service.'

/** Counters, added up here and sent to a statsd over UDP. What is lost on the way is not missed. */
export class StatsdCounters {
  readonly #address: StatsdAddress
  readonly #socket: Socket = createSocket('udp4').unref()
  readonly #timer: NodeJS.Timeout
  #counts = new Map<string, number>()

  constructor(address: StatsdAddress) {
    this.#address = address
    this.#socket.on('error', () => undefined)
    this.#timer = setInterval(() => this.flush(), FLUSH_MS).unref()
  }

  /** Counts below `ratelimit.service.` */
  add(name: string, count: number): void {
    this.addWhole(`${PREFIX}${name}`, count)
  }

  /** Counts by the whole name. */
  addWhole(name: string, count: number): void {
    const before = this.#counts.get(name)
    if (before === undefined && this.#counts.size >= MOST_NAMES) return
    this.#counts.set(name, (before ?? 0) + count)
  }

  /** Sends what has been counted since the last time. */
  flush(): void {
    const lines = [...this.#counts].map(([name, count]) => `${name}:${count}|c`)
    this.#counts = new Map()
    for (const packet of packetsOf(lines)) {
      this.#socket.send(packet, this.#address.port, this.#address.host, () => undefined)
    }
  }

  /** Sends the rest, and closes. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.flush()
    // A packet that was handed over is sent before the socket closes, once its name has been looked up.
    await new Promise<void>((resolve) => this.#socket.send('', this.#address.port, this.#address.host, () => resolve()))
    this.#socket.close()
  }
}

function packetsOf(lines: readonly string[]): string[] {
  const packets: string[] = []
  for (const line of lines) {
    const last = packets.at(-1)
    if (last === undefined || last.length + line.length + 1 > PACKET) packets.push(line)
    else packets[packets.length - 1] = `${last}\n${line}`
  }
  return packets
}

/** There a request is an error where Redis does not answer; here it is decided without, and counted by the same name. */
export const REDIS_ERROR = 'call.should_rate_limit.redis_error'
