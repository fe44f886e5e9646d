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
/** How many are compared when one has to go, and how many at most where all of them are for ever. */
const COMPARED = 64
const MOST_COMPARED = 1024

/**
 * The blocked keys of all rules, and their penalties; bounded in number. A cursor goes round them a few steps for each
 * one that is added, and forgets those that are over.
 */
export class Blocks {
  readonly #blocks = new Map<string, Block>()
  readonly #most: number
  #cursor: Iterator<[string, Block]> = this.#blocks.entries()
  #evicted = 0

  constructor(most: number) {
    this.#most = most
  }

  get size(): number {
    return this.#blocks.size
  }

  /** Whether anything is known of a key. */
  has(name: string): boolean {
    return this.#blocks.has(name)
  }

  /** Blocks forgotten before their end, for want of room. */
  get evicted(): number {
    return this.#evicted
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
  penalty(name: string, penalty: Penalty, clock: number): number {
    const { blocksMs } = penalty
    return blocksMs[Math.min(this.#penalties(name, penalty, clock), blocksMs.length - 1)] as number
  }

  /** Blocks a key that has been refused. */
  punish(name: string, penalty: Penalty, clock: number): void {
    const until = clock + this.penalty(name, penalty, clock)
    const penalties = Math.min(this.#penalties(name, penalty, clock) + 1, penalty.blocksMs.length)
    this.#put(name, { from: clock, until, penalties, remembered: until + penalty.forgetAfterMs }, clock)
  }

  /** @returns whether the key was blocked */
  delete(name: string, clock: number): boolean {
    const blocked = this.left(name, clock) > 0
    this.#blocks.delete(name)
    return blocked
  }

  clear(): void {
    this.#blocks.clear()
  }

  /** Those of a clock that had jumped ahead would be remembered for longer than any are: they are not. */
  #penalties(name: string, { blocksMs, forgetAfterMs }: Penalty, clock: number): number {
    const block = this.#blocks.get(name)
    if (block === undefined || clock >= block.remembered) return 0
    return block.remembered - clock > Math.max(...blocksMs) + forgetAfterMs ? 0 : block.penalties
  }

  #put(name: string, block: Block, clock: number): void {
    if (!this.#blocks.has(name)) this.#makeRoom(clock)
    this.#blocks.set(name, block)
  }

  /** Forgets some that are over; where there are too many, the one soonest to end. */
  #makeRoom(clock: number): void {
    if (this.#blocks.size >= FEW) this.#sweep(clock)
    if (this.#blocks.size < this.#most) return
    let [soonest, end]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY]
    for (let i = 0; i < Math.min(this.#blocks.size, MOST_COMPARED); i++) {
      if (i >= COMPARED && end < Number.POSITIVE_INFINITY) break
      const [name, block] = this.#next()
      const over = endOf(block)
      if (soonest === undefined || over < end) [soonest, end] = [name, over]
      if (over <= clock) break
    }
    if (end > clock) this.#evicted++
    this.#blocks.delete(soonest as string)
  }

  #sweep(clock: number): void {
    for (let i = 0; i < SWEPT; i++) {
      const [name, block] = this.#next()
      if (endOf(block) <= clock) this.#blocks.delete(name)
    }
  }

  /** The next block of the round, beginning again after the last. There is one. */
  #next(): [string, Block] {
    const { value, done } = this.#cursor.next()
    if (done !== true) return value
    this.#cursor = this.#blocks.entries()
    return this.#cursor.next().value as [string, Block]
  }
}

function endOf({ until, remembered }: Block): number {
  return Math.max(until, remembered)
}
