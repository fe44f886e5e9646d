import type { Entry } from '../../admission.ts'

/** From this many dropped entries on the log is moved to the front, once half of it is dropped. */
const FEW = 32

/**
 * The admissions of one key in the order of time, each with the running total of costs: what any stretch of them has
 * used is one subtraction, and when enough of it ends one binary search.
 */
export class AdmissionLog {
  #times: number[] = []
  #totals: number[] = []
  #ids: string[] = []
  #head = 0
  /** The running total before the head. */
  #before = 0

  /** The index of the oldest entry. */
  get head(): number {
    return this.#head
  }

  /** The index behind the newest entry. */
  get end(): number {
    return this.#times.length
  }

  /** Time of the newest entry; long over where there is none. */
  get newest(): number {
    return this.#head === this.end ? Number.NEGATIVE_INFINITY : this.timeAt(this.end - 1)
  }

  timeAt(index: number): number {
    return this.#times[index] as number
  }

  idAt(index: number): string {
    return this.#ids[index] as string
  }

  costFrom(index: number): number {
    return this.#totalBefore(this.end) - this.#totalBefore(index)
  }

  /** The first entry later than `cut`; `end` if none is. */
  firstAfter(cut: number): number {
    return this.#search(this.#head, (index) => this.timeAt(index) > cut)
  }

  /** The entry whose end, with those from `first` on before it, frees at least `excess`. */
  firstFreeing(first: number, excess: number): number {
    const wanted = this.#totalBefore(first) + excess
    return this.#search(first, (index) => this.#totalBefore(index + 1) >= wanted)
  }

  entriesFrom(index: number): Entry[] {
    return this.#times.slice(index).map((at, i) => ({ at, id: this.idAt(index + i), cost: this.#costAt(index + i) }))
  }

  push(at: number, id: string, cost: number): void {
    const total = this.#totalBefore(this.end) + cost
    this.#times.push(at)
    this.#totals.push(total)
    this.#ids.push(id)
  }

  /** Forgets the entries before `index`. */
  dropBefore(index: number): void {
    if (index === this.#head) return
    this.#before = this.#totalBefore(index)
    this.#head = index
    if (index < FEW && index < this.end) return
    if (index * 2 >= this.end) this.#compact()
  }

  /** All entries count as made at `time`. */
  moveTo(time: number): void {
    this.#times.fill(time, this.#head)
  }

  /** Takes up to `cost` from the oldest entries, and says how much. */
  takeOldest(cost: number): number {
    const taken = Math.min(cost, this.costFrom(this.#head))
    const kept = this.#search(this.#head, (index) => this.#totalBefore(index + 1) - this.#before > taken)
    const part = taken - (this.#totalBefore(kept) - this.#before)
    this.dropBefore(kept)
    this.#before += part
    return taken
  }

  /** Takes up to `cost` from one entry, and says how much. */
  take(index: number, cost: number): number {
    const own = this.#costAt(index)
    const taken = Math.min(cost, own)
    for (let i = index; i < this.end; i++) this.#totals[i] = (this.#totals[i] as number) - taken
    if (taken === own) {
      this.#times.splice(index, 1)
      this.#totals.splice(index, 1)
      this.#ids.splice(index, 1)
    }
    return taken
  }

  #costAt(index: number): number {
    return this.#totalBefore(index + 1) - this.#totalBefore(index)
  }

  #totalBefore(index: number): number {
    return index === this.#head ? this.#before : (this.#totals[index - 1] as number)
  }

  /** Moves what is left to the front, and counts its totals from 0, so that they stay whole for ever. */
  #compact(): void {
    const before = this.#before
    this.#times = this.#times.slice(this.#head)
    this.#totals = this.#totals.slice(this.#head).map((total) => total - before)
    this.#ids = this.#ids.slice(this.#head)
    this.#head = 0
    this.#before = 0
  }

  /** The first entry from `low` on of which `holds` is true, and then of all behind it; `end` if of none. */
  #search(low: number, holds: (index: number) => boolean): number {
    let from = low
    let to = this.end
    while (from < to) {
      const middle = (from + to) >>> 1
      if (holds(middle)) to = middle
      else from = middle + 1
    }
    return from
  }
}
