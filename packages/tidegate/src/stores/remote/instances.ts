/** How many can be told apart; whoever comes beyond them is counted no more. */
const MOST = 100_000

/** Which clients have said that they live: what a limit is shared among while no service answers. */
export class Instances {
  readonly #clock: () => number
  /** Until when each lives, by the clock, in the order in which they last said so. */
  readonly #until = new Map<string, number>()

  /** @param clock ms, never going back */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** One says that it lives for so many ms more, or with 0 that it leaves. @returns how many live */
  beat(instance: string, lifeMs: number): number {
    const now = this.#clock()
    this.#until.delete(instance)
    for (const [name, until] of this.#until) if (until <= now) this.#until.delete(name)
    if (lifeMs > 0 && this.#until.size < MOST) this.#until.set(instance, now + lifeMs)
    return this.#until.size
  }
}
