/** What stands in a parsed glob where no code point does. */
const ANY_ONE = -1
const ANY_IN_SEGMENT = -2
const ANY = -3
const SLASH = 0x2f

/**
 * A glob as code points and wildcards: `*` any characters but '/', `**` any at all, `?` one character but
 * '/'; a backslash makes the character behind it an ordinary one. Undefined where a backslash has none.
 */
export type Glob = readonly number[]

export function parseGlob(pattern: string): Glob | undefined {
  const glob: number[] = []
  let isEscaped = false
  for (const character of pattern) {
    if (!isEscaped && character === '\\') {
      isEscaped = true
      continue
    }
    if (!isEscaped && character === '*') pushStar(glob)
    else if (!isEscaped && character === '?') glob.push(ANY_ONE)
    else glob.push(character.codePointAt(0) as number)
    isEscaped = false
  }
  return isEscaped ? undefined : glob
}

/** Two stars or more are one wildcard. */
function pushStar(glob: number[]): void {
  const last = glob.at(-1)
  if (last === ANY_IN_SEGMENT) glob[glob.length - 1] = ANY
  else if (last !== ANY) glob.push(ANY_IN_SEGMENT)
}

/** What every value that matches begins with: all before the first wildcard. */
export function headOf(glob: Glob): string {
  const first = glob.findIndex((part) => part < 0)
  return String.fromCodePoint(...glob.slice(0, first < 0 ? glob.length : first))
}

/**
 * Matches all of a value in one pass over it: beside each character, all places of the glob that the value so
 * far can have led to, a bit each, moved on together (Baeza-Yates and Gonnet, "A new approach to text
 * searching", 1992). So the time is the length of the value, times one for every 32 places, whatever the
 * value; nothing is ever tried again.
 */
export function globMatcher(glob: Glob): (value: string) => boolean {
  // One place more than there are parts: behind the last.
  const words = (glob.length >> 5) + 1
  const placesOf = (isMeant: (part: number) => boolean) => bitsOf(glob, words, isMeant)
  const stars = placesOf((part) => part === ANY || part === ANY_IN_SEGMENT)
  const starsOverSlash = placesOf((part) => part === ANY)
  const takers = new Map<number, Int32Array>()
  for (const point of new Set([...glob, SLASH])) {
    takers.set(
      point,
      placesOf((part) => part === point || (part === ANY_ONE && point !== SLASH)),
    )
  }
  const takersOfOthers = placesOf((part) => part === ANY_ONE)
  // Kept between calls, which do not overlap.
  const places = new Int32Array(words)

  /** Moves on by one character. False where it leads nowhere. */
  function step(takes: Int32Array, stays: Int32Array): boolean {
    let [alive, moved, skipped] = [0, 0, 0]
    for (let word = 0; word < words; word++) {
      const from = places[word] as number
      const taken = from & (takes[word] as number)
      const reached = (taken << 1) | moved | (from & (stays[word] as number))
      // A star may stand for nothing; behind a star there is no other.
      const skips = reached & (stars[word] as number)
      const next = reached | (skips << 1) | skipped
      moved = taken >>> 31
      skipped = skips >>> 31
      alive |= next
      places[word] = next
    }
    return alive !== 0
  }

  return (value) => {
    places.fill(0)
    places[0] = 1 | (((stars[0] as number) & 1) << 1)
    for (let i = 0; i < value.length; ) {
      const point = value.codePointAt(i) as number
      if (!step(takers.get(point) ?? takersOfOthers, point === SLASH ? starsOverSlash : stars)) return false
      i += point > 0xffff ? 2 : 1
    }
    return (((places[words - 1] as number) >>> (glob.length & 31)) & 1) === 1
  }
}

function bitsOf(glob: Glob, words: number, isMeant: (part: number) => boolean): Int32Array {
  const bits = new Int32Array(words)
  for (const [place, part] of glob.entries()) {
    if (isMeant(part)) bits[place >> 5] = (bits[place >> 5] as number) | (1 << (place & 31))
  }
  return bits
}
