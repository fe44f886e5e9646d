import { Arena } from '../arena.ts'

/** Numbers of an entry: time, running total. */
const ENTRY = 2

/** The logs of many sliding windows: entries of (time, running total) in the order of time, in one arena. */
export class WindowLogs {
  readonly #arena = new Arena()

  /** How many entries a log gets that holds `live` and is to grow by about as many. */
  capacityFor(live: number): number {
    return Arena.sizeFor((live + (live >> 1) + 1) * ENTRY) / ENTRY
  }

  release(log: number, capacity: number): void {
    if (capacity > 0) this.#arena.release(log, capacity * ENTRY)
  }

  /** Moves `count` entries from `first` on to the front of a log of another capacity, and returns that log. */
  move(log: number, first: number, count: number, capacity: number, other: number): number {
    const target = other === capacity ? log : this.#arena.open(other * ENTRY)
    if (count > 0) {
      const from = Arena.offsetOf(log) + first * ENTRY
      const entries = this.#arena.page(log).subarray(from, from + count * ENTRY)
      this.#arena.page(target).set(entries, Arena.offsetOf(target))
    }
    if (target !== log) this.release(log, capacity)
    return target
  }

  write(log: number, index: number, time: number, total: number): void {
    const page = this.#arena.page(log)
    const offset = Arena.offsetOf(log) + index * ENTRY
    page[offset] = time
    page[offset + 1] = total
  }

  /** Takes `amount` from the totals of the entries `low` to `high` - 1. */
  subtract(log: number, low: number, high: number, amount: number): void {
    if (low >= high) return
    const page = this.#arena.page(log)
    const offset = Arena.offsetOf(log) + 1
    for (let i = low; i < high; i++) page[offset + i * ENTRY] = ((page[offset + i * ENTRY] as number) - amount) >>> 0
  }

  /** Takes the entry at `index` out of the `length` that there are. */
  remove(log: number, index: number, length: number): void {
    const offset = Arena.offsetOf(log)
    this.#arena.page(log).copyWithin(offset + index * ENTRY, offset + (index + 1) * ENTRY, offset + length * ENTRY)
  }

  timeAt(log: number, index: number): number {
    return this.#arena.page(log)[Arena.offsetOf(log) + index * ENTRY] as number
  }

  totalAt(log: number, index: number): number {
    return this.#arena.page(log)[Arena.offsetOf(log) + index * ENTRY + 1] as number
  }

  /** The first of the entries `low` to `high` - 1 that is later than `cut`; `high` if none is. */
  firstAfter(log: number, low: number, high: number, cut: number): number {
    const page = this.#arena.page(log)
    const offset = Arena.offsetOf(log)
    // Most often the very next one.
    if ((page[offset + low * ENTRY] as number) > cut) return low
    let from = low + 1
    let to = high
    while (from < to) {
      const middle = (from + to) >>> 1
      if ((page[offset + middle * ENTRY] as number) > cut) to = middle
      else from = middle + 1
    }
    return from
  }

  /** The first of the entries `low` to `high` - 1 whose total is at least `excess` over `before`; `high` if none is. */
  firstFreeing(log: number, low: number, high: number, before: number, excess: number): number {
    const page = this.#arena.page(log)
    const offset = Arena.offsetOf(log) + 1
    let from = low
    let to = high
    while (from < to) {
      const middle = (from + to) >>> 1
      if (((page[offset + middle * ENTRY] as number) - before) >>> 0 >= excess) to = middle
      else from = middle + 1
    }
    return from
  }
}
