import { MAX_TIME_MS, monotonicClock, systemClock } from '../../clock.ts'

/**
 * What time it is for the server, as far as replies have told, by a clock of ours that nobody sets. Before the first reply
 * its clock is taken to be right with ours.
 *
 * A reply bounds how far the server's clock is ahead of ours: its time was read between the sending and the receiving.
 * The best lower bound is kept for as long as no reply contradicts it (Cristian, 1989).
 */
export class ServerTime {
  /** How far the server is ahead, at least. */
  #ahead = systemClock() - monotonicClock()
  #isKnown = false

  /** About now, ms since the epoch. */
  now(): number {
    return within(Math.floor(monotonicClock() + this.#ahead))
  }

  /** The latest time of the server's at which it is surely not later than this, by the monotonic clock. */
  latest(until: number): number {
    return within(Math.floor(until + this.#ahead))
  }

  /** How far the server's clock is ahead of the one that this machine shows, ms; undefined before the first reply. */
  skewMs(): number | undefined {
    return this.#isKnown ? Math.round(monotonicClock() + this.#ahead - systemClock()) + 0 : undefined
  }

  /** Takes note of the time that a reply gave. @param sent when it was asked for, by the monotonic clock */
  seen(time: number, sent: number): void {
    // A reply that a client or a proxy has spoilt says nothing of the time.
    if (!Number.isInteger(time) || time < 0 || time > MAX_TIME_MS) return
    const atLeast = time - monotonicClock()
    const atMost = time + 1 - sent
    if (!this.#isKnown || this.#ahead < atLeast || this.#ahead > atMost) this.#ahead = atLeast
    this.#isKnown = true
  }
}

function within(time: number): number {
  return Math.min(Math.max(time, 0), MAX_TIME_MS)
}
