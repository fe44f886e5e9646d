/** Users by name, all of one length. */
export function users(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `user-${String(i).padStart(6, '0')}`)
}

/**
 * Requests of these keys in random order: the same in every run and for every engine, from a generator with a seed
 * (mulberry32, T. Ettinger).
 */
export function requestsOf(keys: readonly string[], count: number): string[] {
  let state = 0x7161_7e64
  return Array.from({ length: count }, () => {
    state = (state + 0x6d2b_79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return keys[((mixed ^ (mixed >>> 14)) >>> 0) % keys.length] as string
  })
}
