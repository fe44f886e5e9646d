import type { Penalty } from '../../penalty.ts'

/** What is known of a key that is or was blocked. Times in ms. */
interface Block {
  /** When it began; the latest time that is known of the clock. */
  from: number
  /** When it ends: infinite for ever. */
  until: number
  /** How many penalties in a row there were. */
  penalties: number
  /** Until when they are remembered. */
  remembered: number
}

/** How many blocks each new one looks at for some that are over. */
const SWEPT = 3
/** Below this many none is swept: they cost little, and a clock that steps back finds them still there. */
const FEW = 1024
/** How many are compared when one has to go. */
const COMPARED = 64

/** The blocked keys of one rule, and their penalties; bounded in number. */
export class Blocks {
  readonly #blocks = new Map<string, Block>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#blocks.size
  }

  /** Ms until the key is free; 0 where it is. A clock that had jumped ahead and came right starts the block anew. */
  left(name: string, clock: number): number {
    const block = this.#blocks.get(name)
    if (block === undefined || clock >= block.until) return 0
    const duration = block.until - block.from
    return clock < block.from - duration ? duration : block.until - clock
  }

  /** Writes down that the block is over, or what `left` made of a clock that came right. */
  settle(name: string, clock: number): void {
    const block = this.#blocks.get(name)
    if (block === undefined) return
    const { from, until } = block
    if (clock >= until) [block.from, block.until] = [0, 0]
    else if (clock < from - (until - from)) [block.from, block.until] = [clock, clock + until - from]
  }

  /** Blocks a key for so many ms from now, instead of a block that there is. */
  block(name: string, durationMs: number, clock: number): void {
    const { penalties = 0, remembered = 0 } = this.#blocks.get(name) ?? {}
    this.#put(name, { from: clock, until: clock + durationMs, penalties, remembered }, clock)
  }

  /** For how long the key is blocked if it is refused now, ms. */
  penalty(name: string, { blocksMs }: Penalty, clock: number): number {
    return blocksMs[Math.min(this.#penalties(name, clock), blocksMs.length - 1)] as number
  }

  /** Blocks a key that has been refused. */
  punish(name: string, penalty: Penalty, clock: number): void {
    const until = clock + this.penalty(name, penalty, clock)
    const penalties = Math.min(this.#penalties(name, clock) + 1, penalty.blocksMs.length)
    this.#put(name, { from: clock, until, penalties, remembered: until + penalty.forgetAfterMs }, clock)
  }

  /** @returns whether the key was blocked */
  delete(name: string, clock: number): boolean {
    const blocked = this.left(name, clock) > 0
    this.#blocks.delete(name)
    return blocked
  }

  #penalties(name: string, clock: number): number {
    const block = this.#blocks.get(name)
    return block === undefined || clock >= block.remembered ? 0 : block.penalties
  }

  #put(name: string, block: Block, clock: number): void {
    if (!this.#blocks.has(name)) this.#makeRoom(clock)
    this.#blocks.set(name, block)
  }

  /** Forgets some that are over; where there are too many, the one soonest to end. */
  #makeRoom(clock: number): void {
    let soonest: string | undefined
    let end = Number.POSITIVE_INFINITY
    let seen = 0
    const isFull = this.#blocks.size >= this.#most
    if (!isFull && this.#blocks.size < FEW) return
    for (const [name, { until, remembered }] of this.#blocks) {
      const over = Math.max(until, remembered)
      if (over <= clock) this.#blocks.delete(name)
      else if (soonest === undefined || over < end) [soonest, end] = [name, over]
      if (++seen >= (isFull ? COMPARED : SWEPT)) break
    }
    if (this.#blocks.size >= this.#most && soonest !== undefined) this.#blocks.delete(soonest)
  }
}
