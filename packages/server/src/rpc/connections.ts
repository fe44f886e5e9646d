import type { ServerHttp2Session } from 'node:http2'

/** How long connections stay. Milliseconds. */
export interface ConnectionLimits {
  /** After so long a client is asked to come anew, so that it is spread over what there is by then; a tenth more or less. */
  readonly maxAgeMs: number
  /** What is under way may then take so long. */
  readonly maxAgeGraceMs: number
}

/** How often connections are looked at. Milliseconds. */
const LOOK_MS = 1000
/** How often a peer is asked whether it is there. Milliseconds. */
const KEEP_ALIVE_MS = 60_000
/** How long it may take to say so. Milliseconds. */
const KEEP_ALIVE_PATIENCE_MS = 20_000
/** Tells a client to begin nothing more here, while what is on its way is still taken. */
const LAST_STREAM_OF_ALL = 2 ** 31 - 1

interface Connection {
  /** When it is asked to go, and whether it has been; by the monotonic clock, in milliseconds. */
  leavesAt: number
  isLeaving: boolean
  pingsAt: number
  /** When its answer to a ping is due. */
  answersUntil: number
}

/** The open connections of a server: keeps watch over them, and asks them to go. */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #open = new Map<ServerHttp2Session, Connection>()
  readonly #timer = setInterval(() => this.#look(), LOOK_MS).unref()

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  readonly add = (session: ServerHttp2Session): void => {
    const now = performance.now()
    this.#open.set(session, {
      leavesAt: now + this.#limits.maxAgeMs * (0.9 + Math.random() / 5),
      isLeaving: false,
      pingsAt: now + KEEP_ALIVE_MS,
      answersUntil: Number.POSITIVE_INFINITY,
    })
    session.once('close', () => this.#open.delete(session))
  }

  /** Asks all clients to begin nothing more here. */
  warn(): void {
    for (const session of this.#open.keys()) warn(session)
  }

  /** Ends each connection with the last call that is under way on it. */
  end(): void {
    for (const session of this.#open.keys()) session.close()
  }

  cut(): void {
    for (const session of this.#open.keys()) session.destroy()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = performance.now()
    for (const [session, connection] of this.#open) {
      if (now > connection.answersUntil) session.destroy()
      else if (now > connection.leavesAt) this.#leave(session, connection, now)
      else if (now > connection.pingsAt) ping(session, connection, now)
    }
  }

  /** Warned first and closed a look later: what the client had sent before it read the warning has been taken by then. */
  #leave(session: ServerHttp2Session, connection: Connection, now: number): void {
    if (!connection.isLeaving) {
      connection.isLeaving = true
      warn(session)
    } else if (!session.closed) {
      session.close()
      connection.leavesAt = now + this.#limits.maxAgeGraceMs
    } else session.destroy()
  }
}

function warn(session: ServerHttp2Session): void {
  if (!session.closed && !session.destroyed) session.goaway(0, LAST_STREAM_OF_ALL)
}

function ping(session: ServerHttp2Session, connection: Connection, now: number): void {
  connection.pingsAt = now + KEEP_ALIVE_MS
  connection.answersUntil = now + KEEP_ALIVE_PATIENCE_MS
  // Where it cannot be sent the connection is closing, and this ends it.
  session.ping((error) => {
    if (error === null) connection.answersUntil = Number.POSITIVE_INFINITY
  })
}
