import { describe, expect, test } from 'vitest'
import { createLimiter } from '../../limiter.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'

/** A bucket in virtual time, from ms 0 on. */
function open(options: { limit: number; window: number | string; capacity?: number }) {
  let now = 0
  const store = memoryStore({ clock: () => now })
  const limiter = createLimiter({ name: 'r', algorithm: 'token-bucket', store, ...options })
  return {
    limiter,
    at(time: number) {
      now = time
      return limiter
    },
    /** Takes all that is there at this time, and says how much that was. */
    drain(time: number): number {
      now = time
      const cost = limiter.peekSync('k', { cost: 0 }).remaining
      expect(limiter.limitSync('k', { cost }).allowed).toBe(true)
      expect(limiter.peekSync('k', { cost: 1 }).allowed).toBe(false)
      return cost
    },
  }
}

/** The gaps of a linear congruential generator, from 1 ms to `most`. */
function* gaps(most: number): Generator<number> {
  for (let seed = 1; ; seed = (seed * 48_271) % 2_147_483_647) yield 1 + (seed % most)
}

// guava #5290: 80,000/s becomes 83,333/s, and above 1e6/s there is no limit; sentinel #1615: 2000/s gives 1000.
const rates: [perSecond: number][] = [[80_000], [2_000_000], [2000], [999_999], [1_000_001], [7]]

describe.each(rates)('%i a second', (perSecond) => {
  test('drained at every ms of a minute gives the capacity and exactly the rate', () => {
    const { drain } = open({ limit: perSecond, window: '1s' })
    let admitted = 0
    for (let time = 0; time <= 60_000; time++) admitted += drain(time)
    expect(admitted).toBe(perSecond + 60 * perSecond)
  })

  test('drained at random ms gives what has come by then, to the token', () => {
    const { drain } = open({ limit: perSecond, window: '1s' })
    let admitted = drain(0)
    let time = 0
    for (const gap of gaps(300)) {
      time += gap
      if (time > 60_000) break
      admitted += drain(time)
      expect(admitted).toBe(perSecond + Math.floor((perSecond * time) / 1000))
    }
  })
})

test('5 an hour: 5 at once, then one each 720 s', () => {
  const { at, drain } = open({ limit: 5, window: '1h' })
  expect(drain(0)).toBe(5)
  for (let i = 1; i <= 50; i++) {
    expect(at(i * 720_000 - 1).limitSync('k')).toMatchObject({ allowed: false, retryAfterMs: 1 })
    expect(drain(i * 720_000)).toBe(1)
  }
})

test('1 in 366 days', () => {
  const year = 366 * 86_400_000
  const { at } = open({ limit: 1, window: '366d' })
  for (let i = 0; i < 5; i++) {
    expect(at(i * year).limitSync('k')).toMatchObject({ allowed: true, resetAfterMs: year })
    expect(at(i * year + 1).limitSync('k')).toMatchObject({ allowed: false, retryAfterMs: year - 1 })
    expect(at(i * year + year - 1).limitSync('k')).toMatchObject({ allowed: false, retryAfterMs: 1 })
  }
})

test('3 in 7 ms: one after 3, 5 and 7 ms', () => {
  const { drain } = open({ limit: 3, window: 7 })
  const given = Array.from({ length: 22 }, (_, time) => drain(time))
  expect(given).toEqual([3, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1])
})

test('4,294,967,295 in 1 ms', () => {
  const most = 2 ** 32 - 1
  const { drain } = open({ limit: most, window: 1 })
  for (let time = 0; time < 100; time++) expect(drain(time)).toBe(most)
})

test('a bucket as large as can be, filled slowly: whole tokens and units stay apart', () => {
  const most = 2 ** 32 - 1
  // 65,537 tokens in 8,191 ms; units alone would be beyond 2^53 after 2^40 tokens.
  const { at, drain } = open({ limit: 65_537, window: 8191, capacity: most })
  expect(drain(0)).toBe(most)
  const full = at(0).peekSync('k', { cost: 0 }).resetAfterMs as number
  expect(BigInt(full)).toBe((BigInt(most) * 8191n + 65_536n) / 65_537n)
  for (const time of [1, 4000, 8190, 8191, 1_000_003, 99_999_999, full - 1]) {
    const level = Number((BigInt(time) * 65_537n) / 8191n)
    expect(at(time).peekSync('k', { cost: 0 })).toMatchObject({ remaining: level, resetAfterMs: full - time })
    expect(at(time).peekSync('k', { cost: level + 1 })).toMatchObject({ allowed: false })
  }
  expect(at(full).peekSync('k', { cost: most })).toMatchObject({ allowed: true })
})

test('a remainder is not lost by what is asked in between', () => {
  // spring-cloud-gateway keeps whole tokens of whole seconds, and loses what came since the last one.
  const { at } = open({ limit: 1, window: 1000 })
  at(0).limitSync('k')
  for (let time = 1; time < 1000; time++) expect(at(time).limitSync('k').allowed).toBe(false)
  expect(at(1000).limitSync('k').allowed).toBe(true)
})
