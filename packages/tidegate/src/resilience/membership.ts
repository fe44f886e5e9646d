/** How often an instance says that it lives, and for how long that is believed. Ms. */
const INTERVAL_MS = 5_000
const LIFE_MS = 15_000

/** Says in the store that this instance lives for so many ms more, or with 0 that it leaves; resolves to how many live. */
export type Heartbeat = (instance: string, lifeMs: number) => Promise<number>

declare const crypto: { randomUUID: () => string }

/**
 * How many instances share the limits of a store: a fixed number, or those whose heartbeats the store has seen. While
 * the store is away the last known number stands, and before the first answer 1.
 */
export class Membership {
  readonly #heartbeat: Heartbeat | undefined
  readonly #name = crypto.randomUUID()
  #instances: number
  #timer: ReturnType<typeof setInterval> | undefined
  #isUnderWay = false

  constructor(fixed: number | undefined, heartbeat: Heartbeat | undefined) {
    this.#instances = fixed ?? 1
    this.#heartbeat = fixed === undefined ? heartbeat : undefined
  }

  get instances(): number {
    return this.#instances
  }

  /** Begins to say that it lives, unless it does already. The timer keeps no process alive. */
  start(): void {
    if (this.#timer !== undefined || this.#heartbeat === undefined) return
    this.#timer = setInterval(() => void this.#beat(), INTERVAL_MS)
    ;(this.#timer as { unref?: () => void }).unref?.()
    void this.#beat()
  }

  /** Leaves, if the store is there to be told. */
  async stop(): Promise<void> {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    this.#timer = undefined
    await this.#heartbeat?.(this.#name, 0).catch(() => undefined)
  }

  async #beat(): Promise<void> {
    if (this.#isUnderWay || this.#heartbeat === undefined) return
    this.#isUnderWay = true
    try {
      const alive = await this.#heartbeat(this.#name, LIFE_MS)
      // What is no number of instances shares no limit.
      if (Number.isSafeInteger(alive)) this.#instances = Math.max(1, alive)
    } catch {
      // Those who ask for decisions learn that the store is away.
    } finally {
      this.#isUnderWay = false
    }
  }
}
