/** Numbers in a row: 64 bytes, which is a cache line of most processors. */
export const ROW = 8
const PAGE_ROWS = 4096

/** Rows of eight numbers, given out by number and taken back, in pages that never move. */
export class Slab {
  readonly #pages: Float64Array[] = []
  /** The latest row taken back; each holds the one taken back before it, so that the list needs no room of its own. */
  #free = -1
  #next = 0

  /** A row of zeros. */
  open(): number {
    const row = this.#free
    if (row >= 0) {
      const page = this.page(row)
      const offset = offsetOf(row)
      this.#free = page[offset] as number
      page[offset] = 0
      return row
    }
    if (this.#next === this.#pages.length * PAGE_ROWS) this.#pages.push(new Float64Array(PAGE_ROWS * ROW))
    return this.#next++
  }

  release(row: number): void {
    const offset = offsetOf(row)
    this.page(row).fill(0, offset, offset + ROW)
    this.page(row)[offset] = this.#free
    this.#free = row
  }

  /** The page that holds a row, from `offsetOf(row)` on. */
  page(row: number): Float64Array {
    return this.#pages[row >>> 12] as Float64Array
  }
}

export function offsetOf(row: number): number {
  return (row & (PAGE_ROWS - 1)) * ROW
}
