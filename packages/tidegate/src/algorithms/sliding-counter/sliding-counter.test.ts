import { expect, test } from 'vitest'
import { createLimiter } from '../../limiter.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'

function open(limit: number, window: number) {
  let now = 0
  const store = memoryStore({ clock: () => now })
  const limiter = createLimiter({ name: 'r', algorithm: 'sliding-counter', limit, window, store })
  return (time: number, cost = 1) => {
    now = time
    return limiter.limitSync('k', { cost })
  }
}

test('the worst case: nearly twice the limit in a real window', () => {
  const [limit, window] = [100, 1000]
  const ask = open(limit, window)
  const admitted: number[] = []
  // All of the limit in the last ms of a window; then, in the next, whatever is given at each ms.
  for (let i = 0; i < limit; i++) if (ask(window - 1).allowed) admitted.push(window - 1)
  for (let time = window; time < 2 * window - 1; time++) if (ask(time).allowed) admitted.push(time)
  const newest = admitted.at(-1) as number
  const inside = admitted.filter((time) => time > newest - window).length
  expect(newest - (admitted[0] as number)).toBeLessThan(window)
  expect(inside).toBe(199)
})

test('the other way: refused where the real window is empty', () => {
  const ask = open(100, 1000)
  expect(ask(0, 100).allowed).toBe(true)
  // 1001 ms later nothing is left of it in (1, 1001], but the counter takes the 100 for spread over (0, 1000].
  expect(ask(1001)).toMatchObject({ allowed: false, used: 100, retryAfterMs: 9 })
  expect(ask(1500, 51)).toMatchObject({ allowed: false, used: 50, retryAfterMs: 10, resetAfterMs: 500 })
})

test('waits: for the previous window to fade, for the current one to fade in the next, or to its end', () => {
  const ask = open(10, 1000)
  ask(500, 6)
  ask(1200, 4)
  // 4 and 6 * 0.8, rounded up.
  expect(ask(1200, 0)).toMatchObject({ used: 9, resetAfterMs: 1800 })
  expect(ask(1200, 3)).toMatchObject({ allowed: false, retryAfterMs: 300 })
  expect(ask(1200, 6)).toMatchObject({ allowed: false, retryAfterMs: 800 })
  expect(ask(1200, 8)).toMatchObject({ allowed: false, retryAfterMs: 800 + 500 })
  expect(ask(1200, 10)).toMatchObject({ allowed: false, retryAfterMs: 1800 })
})

test('the previous window is the one right before (upstash PR#61 took another one, and acted like a fixed window)', () => {
  const ask = open(10, 1000)
  ask(999, 10)
  expect(ask(1000)).toMatchObject({ allowed: false, used: 10, retryAfterMs: 100 })
  expect(ask(2000, 10)).toMatchObject({ allowed: true, used: 10 })
})
