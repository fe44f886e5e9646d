const PAGE = 65_536
/** The smallest block: 64 bytes, which is a cache line of most processors. */
const LEAST = 8

/**
 * Blocks of numbers in sizes of powers of two, given out by address and taken back. Small ones share
 * pages that never move; one larger than a page is an array of its own.
 */
export class Arena {
  readonly #pages: (Float64Array | undefined)[] = []
  /** Blocks taken back, by size. */
  readonly #free = new Map<number, number[]>()
  /** Numbers of pages that held one large block. */
  readonly #freePages: number[] = []
  /** Where the page that is being filled has room. */
  #next = 0
  #end = 0

  /** The size of the block that holds at least `numbers`. */
  static sizeFor(numbers: number): number {
    let size = LEAST
    while (size < numbers) size *= 2
    return size
  }

  /** The address of a block of `size`, a power of two from 8. What it holds is undefined. */
  open(size: number): number {
    if (size > PAGE) return this.#addPage(size)
    const free = this.#free.get(size)?.pop()
    if (free !== undefined) return free
    if (this.#end - this.#next < size) {
      this.#next = this.#addPage(PAGE)
      this.#end = this.#next + PAGE
    }
    const address = this.#next
    this.#next += size
    return address
  }

  release(address: number, size: number): void {
    if (size > PAGE) {
      const page = Math.floor(address / PAGE)
      this.#pages[page] = undefined
      this.#freePages.push(page)
      return
    }
    const free = this.#free.get(size)
    if (free === undefined) this.#free.set(size, [address])
    else free.push(address)
  }

  /** The page that holds a block, from `Arena.offsetOf(address)` on. */
  page(address: number): Float64Array {
    return this.#pages[address >>> 16] as Float64Array
  }

  static offsetOf(address: number): number {
    return address & (PAGE - 1)
  }

  #addPage(size: number): number {
    const page = this.#freePages.pop() ?? this.#pages.length
    this.#pages[page] = new Float64Array(size)
    return page * PAGE
  }
}
