import { createGate } from 'tidegate'
import { remoteStore } from 'tidegate/remote'
import { afterEach, describe, expect, test } from 'vitest'
import { findPart, howToInstall } from './services/parts.ts'
import { administrate, startRedis } from './services/redis.ts'
import { startTidegate } from './services/tidegate.ts'

const skipped = findPart('redis-server') === undefined

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const CLIENTS = 3
const WORKERS = 20
const REQUESTS = 8_000
const LIMIT = 4_000

describe.skipIf(skipped)(`token servers ${skipped ? howToInstall('redis-server') : ''}`, () => {
  test('two over one Redis, one killed under load: each request is decided, and none too many is admitted', {
    timeout: 120_000,
  }, async () => {
    const redis = await startRedis()
    cleanups.push(() => redis.stop('SIGKILL'))
    const flags = ['--redis', `redis://127.0.0.1:${redis.port}`, '--log-level', 'silent']
    // The service's own deadline must not come between: what Redis has counted is what the clients are told.
    const rules = 'store: { deadlineMs: 30000 }\nrules: [{ name: own, limit: 1, window: 1s }]\n'
    const first = await startTidegate(rules, flags)
    cleanups.push(() => first.stop('SIGKILL'))
    const second = await startTidegate(rules, flags)
    cleanups.push(() => second.stop('SIGKILL'))
    const urls = [first, second].map(({ port }) => `http://127.0.0.1:${port}`)

    const gates = Array.from({ length: CLIENTS }, () => {
      const store = remoteStore({ urls, deadlineMs: 30_000 })
      cleanups.push(() => store.close())
      return createGate({
        store,
        rules: [{ name: 'stock', key: ['item'], limit: LIMIT, window: '1h', onStoreFailure: 'deny' }],
      })
    })
    const seen = { asked: 0, admitted: 0, refused: 0, undecided: 0 }
    let isKilled = false
    const work = async (gate: (typeof gates)[0]) => {
      while (seen.asked < REQUESTS) {
        seen.asked++
        const { allowed, reason } = await gate.limit({ item: 'i' })
        if (allowed) seen.admitted++
        else if (reason === 'over_limit') seen.refused++
        else if (reason === 'store_unavailable') seen.undecided++
        if (!isKilled && seen.admitted >= LIMIT / 2) {
          isKilled = true
          first.process.kill('SIGKILL')
        }
      }
    }
    await Promise.all(gates.flatMap((gate) => Array.from({ length: WORKERS }, () => work(gate))))

    const { asked, admitted, refused, undecided } = seen
    expect(admitted + refused + undecided).toBe(asked)
    // What was under way when it died may have been charged; nobody was admitted by it.
    expect(undecided).toBeLessThanOrEqual(CLIENTS * WORKERS)
    const counted = await gates[0]?.peek({ item: 'i' }, { cost: 0 })
    const used = counted?.used as number
    expect(counted?.source).toBe('store')
    expect(used).toBe(LIMIT)
    expect(admitted).toBeLessThanOrEqual(used)
    expect(admitted).toBeGreaterThanOrEqual(used - undecided)
    const admin = administrate(redis.port)
    cleanups.push(() => admin.disconnect())
    expect(await admin.keys('*stock*')).toHaveLength(1)
  })
})
