/** A batch is at most so many times as large as the one before it, and so many at first. */
const GROWTH = 2
const FIRST = 2
/** Fewer are not taken ahead. */
const LEAST = 2
/** Of what the store has left a batch is at most one in so many, so that others are not starved. */
const FAIR_PART = 4
/** Another batch is asked for when one in so many of the last one are left. */
const LOW_PART = 4

/** How many permits of a key are wanted, by how many were used. */
export class Demand {
  /** Permits in a ms, over the last batches. */
  #rate = 0
  #latest = 0
  #askedAt = Number.NEGATIVE_INFINITY

  /** From how many held permits on another batch is worth asking for before they are gone. */
  get low(): number {
    return Math.floor(this.#latest / LOW_PART)
  }

  /** Permits in a ms. */
  get rate(): number {
    return this.#rate
  }

  /** Permits in a ms, with those used since the last batch was asked for. */
  rateWith(used: number, now: number): number {
    const elapsed = now - this.#askedAt
    return elapsed === Number.POSITIVE_INFINITY ? 0 : (this.#rate + used / Math.max(1, elapsed)) / 2
  }

  /**
   * How many to ask for besides those that somebody waits for: what is used in half a life, at most twice as many as came
   * the last time, and a fair part of what there is.
   */
  extra(rate: number, lifeMs: number, held: number, remaining: number): number {
    const wanted = Math.floor((rate * lifeMs) / 2) - held
    // What would hardly be used is not worth the way back.
    if (wanted < LEAST) return 0
    const most = Math.min(Math.max(FIRST, GROWTH * this.#latest), Math.floor(remaining / FAIR_PART))
    return Math.max(0, Math.min(wanted, most))
  }

  /** A batch is asked for. */
  ask(rate: number, now: number): void {
    this.#rate = rate
    this.#askedAt = now
  }

  /** So many came. */
  came(permits: number): void {
    this.#latest = permits
  }
}
