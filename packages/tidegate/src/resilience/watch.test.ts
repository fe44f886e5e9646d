import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { WarningEvent } from '../observer.ts'
import type { StoreHealth } from './store-health.ts'
import { StoreWatch } from './watch.ts'

const WELL: StoreHealth = {
  evictionPolicy: 'noeviction',
  evictedKeys: 0,
  memoryShare: 0.5,
  isReplica: false,
  skewMs: 3,
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('asks at once and every minute, and warns once of each thing until it is over', async () => {
  let health: StoreHealth | Error = WELL
  const warnings: WarningEvent[] = []
  const inspect = async () => {
    if (health instanceof Error) throw health
    return health
  }
  const watch = new StoreWatch(inspect, (warning) => warnings.push(warning))
  const codes = () => warnings.splice(0).map(({ code }) => code)
  const minute = () => vi.advanceTimersByTimeAsync(60_000)
  watch.start()
  watch.start()
  await vi.advanceTimersByTimeAsync(0)
  expect([watch.health, codes()]).toEqual([WELL, []])

  health = { evictionPolicy: 'allkeys-lru', evictedKeys: 5, memoryShare: 0.95, isReplica: true, skewMs: -5000 }
  await minute()
  const messages = warnings.map(({ message }) => message).join('\n')
  expect(messages).toMatch(/maxmemory-policy allkeys-lru/)
  expect(messages).toMatch(/95 % of its maxmemory/)
  expect(messages).toMatch(/5000 ms behind ours/)
  const all = ['TIDEGATE_STORE_EVICTS', 'TIDEGATE_STORE_MEMORY', 'TIDEGATE_STORE_REPLICA', 'TIDEGATE_CLOCK_SKEW']
  expect(codes()).toEqual(all)
  await minute()
  expect(codes()).toEqual([])

  // Away, it says nothing new; well again, it can be warned of anew.
  health = new Error('gone')
  await minute()
  health = WELL
  await minute()
  health = { ...WELL, skewMs: 2000 }
  await minute()
  expect(warnings[0]?.message).toMatch(/2000 ms ahead of ours/)
  expect(codes()).toEqual(['TIDEGATE_CLOCK_SKEW'])
  watch.stop()
  expect(vi.getTimerCount()).toBe(0)
})

test('what a store cannot tell is no reason to warn', async () => {
  const unknown = { evictionPolicy: undefined, evictedKeys: undefined, memoryShare: undefined, isReplica: undefined }
  const warnings: WarningEvent[] = []
  await new StoreWatch(
    async () => ({ ...unknown, skewMs: undefined }),
    (warning) => warnings.push(warning),
  ).look()
  expect(warnings).toEqual([])
})
