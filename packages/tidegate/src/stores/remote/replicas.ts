/** One service that can be asked, and whether it is to be. */
export interface Replica {
  readonly url: string
  /** By the clock, ms: until then it is not asked, and not looked after; 0 of one that is well. */
  retryAt: number
  failures: number
  isProbed: boolean
}

/** The first pause before a replica that has failed is looked after, and the longest; each is twice the one before. Ms. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/**
 * Which of several services is asked: the first in their order that is well. One that has failed is looked after by a
 * probe when its pause is over, and asked again when that was answered, so that no request pays for finding out.
 */
export class Replicas {
  readonly all: readonly Replica[]
  readonly #clock: () => number
  readonly #probe: (replica: Replica) => Promise<unknown>

  /**
   * @param clock ms, never going back
   * @param probe rejects where it is not well
   */
  constructor(urls: readonly string[], clock: () => number, probe: (replica: Replica) => Promise<unknown>) {
    this.all = urls.map((url) => ({ url, retryAt: 0, failures: 0, isProbed: false }))
    this.#clock = clock
    this.#probe = probe
  }

  /** The one to ask, other than those that have been; those that have failed come last. Undefined where all have been. */
  next(asked: ReadonlySet<Replica>): Replica | undefined {
    for (const replica of this.all) this.#lookAfter(replica)
    const left = this.all.filter((replica) => !asked.has(replica))
    return left.find(({ failures }) => failures === 0) ?? left[0]
  }

  /** Whether one is well besides this one. */
  hasOther(than: Replica): boolean {
    return this.all.some((replica) => replica !== than && replica.failures === 0)
  }

  failed(replica: Replica): void {
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** replica.failures, LONGEST_PAUSE_MS)
    replica.failures = Math.min(replica.failures + 1, 10)
    replica.retryAt = this.#clock() + pause
  }

  succeeded(replica: Replica): void {
    replica.failures = 0
  }

  #lookAfter(replica: Replica): void {
    if (replica.failures === 0 || replica.isProbed || this.#clock() < replica.retryAt) return
    replica.isProbed = true
    this.#probe(replica)
      .then(
        () => this.succeeded(replica),
        () => this.failed(replica),
      )
      .finally(() => {
        replica.isProbed = false
      })
  }
}
