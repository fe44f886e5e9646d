import type { Socket } from 'node:net'

/** What one direction of a connection suffers. */
export interface LinkFaults {
  /** How long every piece is under way, ms. */
  readonly latencyMs: number
  /** Up to how much longer, by chance, ms. Pieces keep their order. */
  readonly jitterMs: number
  /** Nothing comes through; what was sent comes when this ends, as over a network that loses packets and sends them again. */
  readonly isHeld: boolean
  /** How many bytes are read in a second, so that the sender's buffers fill. */
  readonly bytesPerSecond: number
}

export const SOUND: LinkFaults = {
  latencyMs: 0,
  jitterMs: 0,
  isHeld: false,
  bytesPerSecond: Number.POSITIVE_INFINITY,
}

/** How often a slow reader reads, ms. */
const SIP_MS = 10

/** One direction of a connection, from one socket to the other. */
export class Link {
  readonly #from: Socket
  readonly #to: Socket
  readonly #faults: () => LinkFaults
  readonly #random: () => number
  readonly #kept: { piece: Buffer | null; due: number }[] = []
  #timer: NodeJS.Timeout | undefined
  #sip: NodeJS.Timeout | undefined

  constructor(from: Socket, to: Socket, faults: () => LinkFaults, random: () => number) {
    this.#from = from
    this.#to = to
    this.#faults = faults
    this.#random = random
    from.on('readable', () => this.#read())
    from.once('end', () => this.#keep(null))
  }

  /** Takes notice of other faults. */
  renew(): void {
    this.#read()
    this.#deliver()
  }

  stop(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#sip)
    this.#kept.length = 0
  }

  #read(): void {
    const { bytesPerSecond } = this.#faults()
    if (bytesPerSecond === Number.POSITIVE_INFINITY) {
      for (let piece = this.#from.read(); piece !== null; piece = this.#from.read()) this.#keep(piece)
      return
    }
    if (this.#sip !== undefined) return
    const most = Math.max(1, Math.floor((bytesPerSecond * SIP_MS) / 1000))
    const piece = this.#from.read(Math.min(most, this.#from.readableLength || 1))
    if (piece === null) return
    this.#keep(piece)
    this.#sip = setTimeout(() => {
      this.#sip = undefined
      this.#read()
    }, SIP_MS)
  }

  #keep(piece: Buffer | null): void {
    const { latencyMs, jitterMs } = this.#faults()
    const due = performance.now() + latencyMs + this.#random() * jitterMs
    this.#kept.push({ piece, due: Math.max(due, this.#kept.at(-1)?.due ?? 0) })
    this.#deliver()
  }

  #deliver(): void {
    clearTimeout(this.#timer)
    while (!this.#faults().isHeld) {
      const [next] = this.#kept
      if (next === undefined) return
      const wait = next.due - performance.now()
      if (wait > 0) {
        this.#timer = setTimeout(() => this.#deliver(), wait)
        return
      }
      this.#kept.shift()
      if (next.piece === null) this.#to.end()
      else if (this.#to.writable) this.#to.write(next.piece)
    }
  }
}
