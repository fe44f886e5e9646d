import { MAX_TIME_MS, systemClock } from '../../clock.ts'

/**
 * What time it is for the server, as far as replies have told: our own clock, and how far the server's was from it when it
 * last answered. Only for what a request has to bring with it, such as the windows of a calendar: the server decides by
 * its own time.
 */
export class ServerTime {
  #offset = 0

  /** Ms since the epoch. */
  now(): number {
    return Math.min(Math.max(systemClock() + this.#offset, 0), MAX_TIME_MS)
  }

  /** Takes note of the time that a reply gave. */
  seen(time: number): void {
    this.#offset = time - systemClock()
  }
}
