import type { Clock } from '../clock.ts'

/** A newcomer holds hardly anything for so long: by then the others have heard of it. Ms. */
const SETTLING_MS = 10_000

/** How many processes share a limit, as far as this one may rely on it. */
export class Members {
  readonly #fixed: number | undefined
  readonly #now: Clock
  #instances = 1
  #firstHeard = Number.POSITIVE_INFINITY
  #believedUntil = Number.NEGATIVE_INFINITY

  constructor(fixed: number | undefined, now: Clock) {
    this.#fixed = fixed
    this.#now = now
  }

  /** The store has seen so many, this one among them, which it believes to live for so long from `sent` on. */
  heard(instances: number, lifeMs: number, sent: number): void {
    if (lifeMs === 0) {
      this.#firstHeard = Number.POSITIVE_INFINITY
      return
    }
    // Whoever was not counted for a while is a newcomer again.
    if (sent > this.#believedUntil) this.#firstHeard = sent
    this.#instances = instances
    this.#believedUntil = sent + lifeMs
  }

  /** This process's part of what all may hold; 0 where it does not know. */
  get share(): number {
    if (this.#fixed !== undefined) return 1 / this.#fixed
    const now = this.#now()
    return now < this.#believedUntil && now - this.#firstHeard >= SETTLING_MS ? 1 / this.#instances : 0
  }
}
