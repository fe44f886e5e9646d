/** The fewest prefixes that say the same, in order: none of them begins with another. */
export function fewestPrefixes(prefixes: Iterable<string>): string[] {
  const kept: string[] = []
  for (const prefix of [...new Set(prefixes)].sort()) {
    const last = kept.at(-1)
    if (last === undefined || !prefix.startsWith(last)) kept.push(prefix)
  }
  return kept
}

/** Whether the value begins with one of `fewest`, by halving. */
export function beginsWithAny(value: string, fewest: readonly string[]): boolean {
  const at = lastNotAfter(value, fewest)
  return at >= 0 && value.startsWith(fewest[at] as string)
}

/** What is filed under prefixes, found by a value that begins with them; prefixes may begin with others. */
export class PrefixTable<Filed> {
  readonly #prefixes: readonly string[]
  readonly #filed: readonly Filed[]
  /** For each prefix the longest other one that it begins with; -1 where there is none. */
  readonly #shorter: Int32Array

  constructor(entries: ReadonlyMap<string, Filed>) {
    this.#prefixes = [...entries.keys()].sort()
    this.#filed = this.#prefixes.map((prefix) => entries.get(prefix) as Filed)
    this.#shorter = new Int32Array(this.#prefixes.length)
    for (const [i, prefix] of this.#prefixes.entries()) this.#shorter[i] = this.#longestOf(prefix, i - 1)
  }

  get size(): number {
    return this.#prefixes.length
  }

  /** What is filed under each prefix of the value. */
  find(value: string): Filed[] {
    const found: Filed[] = []
    let at = this.#longestOf(value, lastNotAfter(value, this.#prefixes))
    for (; at >= 0; at = this.#shorter[at] as number) found.push(this.#filed[at] as Filed)
    return found
  }

  /**
   * The longest prefix that the text begins with, given the last one that does not sort after it. Whatever
   * sorts between a prefix and a text that begins with it begins with it too: it is that last one, or
   * one that it begins with.
   */
  #longestOf(text: string, last: number): number {
    let at = last
    while (at >= 0 && !text.startsWith(this.#prefixes[at] as string)) at = this.#shorter[at] as number
    return at
  }
}

/** The place of the last that does not sort after the text; -1 where all do. */
function lastNotAfter(text: string, sorted: readonly string[]): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as string) <= text) low = middle + 1
    else high = middle
  }
  return low - 1
}
