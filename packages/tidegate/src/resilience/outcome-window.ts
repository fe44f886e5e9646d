const SLICES = 10

/** How many questions were answered and how many failed in the last so many ms, to a tenth of these. */
export class OutcomeWindow {
  readonly #sliceMs: number
  readonly #asked = new Array<number>(SLICES).fill(0)
  readonly #failed = new Array<number>(SLICES).fill(0)
  #latest = 0
  #totalAsked = 0
  #totalFailed = 0

  constructor(windowMs: number) {
    this.#sliceMs = windowMs / SLICES
  }

  get asked(): number {
    return this.#totalAsked
  }

  get failed(): number {
    return this.#totalFailed
  }

  record(isFailure: boolean, now: number): void {
    const slice = Math.floor(now / this.#sliceMs)
    if (slice > this.#latest) this.#advance(slice)
    const place = this.#latest % SLICES
    ;(this.#asked[place] as number)++
    this.#totalAsked++
    if (!isFailure) return
    ;(this.#failed[place] as number)++
    this.#totalFailed++
  }

  clear(): void {
    this.#asked.fill(0)
    this.#failed.fill(0)
    this.#totalAsked = 0
    this.#totalFailed = 0
  }

  /** Forgets the slices that have left the window. */
  #advance(slice: number): void {
    if (slice - this.#latest >= SLICES) this.clear()
    for (let passed = this.#latest + 1; passed <= slice && this.#totalAsked > 0; passed++) {
      const place = passed % SLICES
      this.#totalAsked -= this.#asked[place] as number
      this.#totalFailed -= this.#failed[place] as number
      this.#asked[place] = 0
      this.#failed[place] = 0
    }
    this.#latest = slice
  }
}
