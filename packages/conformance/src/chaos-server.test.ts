import { setTimeout as sleep } from 'node:timers/promises'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { afterEach, describe, expect, test } from 'vitest'
import { startLoad, sum } from './chaos/load.ts'
import { type Rig, type RigOptions, startRig, underFault, waits } from './chaos/rig.ts'
import { findPart, howToInstall } from './services/parts.ts'
import { waitFor } from './services/wait-for.ts'

const skipped = findPart('redis-server') === undefined

let rig: Rig | undefined
afterEach(async () => {
  await rig?.close()
  rig = undefined
})

async function start(options?: RigOptions): Promise<Rig> {
  rig = await startRig(options)
  return rig
}

const errorsOf = (reports: readonly { errors: unknown[] }[]) => reports.flatMap(({ errors }) => errors)

describe.skipIf(skipped)(`chaos of the server ${skipped ? howToInstall('redis-server') : ''}`, () => {
  test('killed with SIGKILL and restarted empty: decisions go on, and Redis counts again', { timeout: 60_000 }, async ({
    annotate,
  }) => {
    const one = await start()
    const phases = await underFault(one, () => one.restart(1000))
    expect(errorsOf(phases.all)).toEqual([])
    expect(sum([phases.during.admitted], 'local')).toBeGreaterThan(200)
    // The empty one has counted what it gave, and at most what it was asked when it was there already.
    const given = sum([phases.after.admitted], 'store')
    const [counted, before] = [await one.used(), sum([phases.during.admitted], 'store')]
    expect(counted).toBeGreaterThanOrEqual(given)
    expect(counted).toBeLessThanOrEqual(given + before + 8)
    await annotate(waits(phases))
  })

  test('killed and restarted empty: never more than twice the limit and the shares of those who did without', {
    timeout: 60_000,
  }, async ({ annotate }) => {
    const [limit, instances] = [60, 4]
    const one = await start({ store: { instances } })
    const limiter = createLimiter({ name: 'bound', limit, window: '1h', store: one.store })
    const load = startLoad(() => limiter.limit('k'))
    await waitFor('the limit', async () => (load.report.refused['store'] ?? 0) > 0)
    await one.restart(1000)
    await waitFor('the limit again', async () => (load.report.admitted['store'] ?? 0) >= limit + 1)
    await waitFor('refusals again', async () => one.store.guardState().breaker === 'closed')
    await sleep(300)
    const { admitted } = await load.end()
    // What each Redis admitted, told or not; and what this one of four instances admitted by its share.
    expect(admitted['store'] ?? 0).toBeLessThanOrEqual(2 * limit)
    expect(admitted['local'] ?? 0).toBe(limit / instances)
    await annotate(`limit ${limit}: ${admitted['store']} by the two servers, ${admitted['local']} without`)
  })

  test('SCRIPT FLUSH under load: nobody notices', { timeout: 60_000 }, async () => {
    const one = await start({ store: { deadlineMs: 1000 } })
    const phases = await underFault(one, async () => {
      for (let i = 0; i < 20; i++) {
        await one.admin.script('FLUSH')
        await sleep(20)
      }
    })
    expect([errorsOf(phases.all), one.told.fallback]).toEqual([[], []])
    const given = phases.all.map(({ admitted }) => admitted)
    expect(await one.used()).toBe(sum(given, 'store'))
  })

  test('CLIENT KILL of all connections: each request is counted once at most', { timeout: 60_000 }, async () => {
    const one = await start()
    const kills = 10
    const phases = await underFault(one, async () => {
      for (let i = 0; i < kills; i++) {
        await one.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
        await sleep(150)
      }
    })
    expect(errorsOf(phases.all)).toEqual([])
    const [given, counted] = [
      sum(
        phases.all.map(({ admitted }) => admitted),
        'store',
      ),
      await one.used(),
    ]
    expect(counted).toBeGreaterThanOrEqual(given)
    expect(counted - given).toBeLessThanOrEqual(8 * kills)
  })

  test('memory full, noeviction: known keys are still refused by Redis, new ones decided without it, and it is warned of', {
    timeout: 60_000,
  }, async () => {
    const one = await start({ redis: ['--maxmemory', '100mb', '--maxmemory-policy', 'noeviction'] })
    // Each refusal is asked for: what Redis has just refused would be known here.
    const limiter = createLimiter({ name: 'full', limit: 5, window: '1h', store: one.store, deniedCache: false })
    for (let i = 0; i < 6; i++) await limiter.limit('spent')
    await one.admin.config('SET', 'maxmemory', '1')
    for (let i = 0; i < 20; i++) {
      expect(await limiter.limit('spent')).toMatchObject({ allowed: false, source: 'store' })
      expect((await limiter.limit(`new-${i}`)).source).toBe('local')
    }
    // It answers: it is asked on, whatever it cannot do.
    expect(one.store.guardState()).toMatchObject({ breaker: 'closed', fallbacks: { error: 20 } })
    expect(String(one.told.storeError[0]?.error)).toMatch(/OOM/)
    await one.admin.config('SET', 'maxmemory', '100mb')
    expect((await limiter.limit('new-0')).source).toBe('store')
  })

  test('memory full, allkeys-lru: limits open, which is warned of before it happens, and counted', {
    timeout: 60_000,
  }, async () => {
    const one = await start({ redis: ['--maxmemory', '4mb', '--maxmemory-policy', 'allkeys-lru'] })
    const limiter = createLimiter({ name: 'lru', limit: 1, window: '1h', store: one.store })
    await limiter.limit('victim')
    await waitFor('a warning', async () => one.told.warning.some(({ code }) => code === 'TIDEGATE_STORE_EVICTS'))
    const bare = createLimiter({
      name: 'flood',
      limit: 1,
      window: '1h',
      store: redisStore(one.client, { guarded: false }),
    })
    const keysFrom = (first: number) => Array.from({ length: 1000 }, (_, i) => `key-${first + i}-${'x'.repeat(100)}`)
    let [evicted, flooded] = [0, 0]
    while (evicted === 0) {
      await Promise.all(keysFrom(flooded).map((key) => bare.limit(key)))
      flooded += 1000
      evicted = Number(/evicted_keys:(\d+)/.exec(await one.admin.info('stats'))?.[1])
    }
    // Some keys have been forgotten, whichever they are, and their limits are open again.
    let reopened = 0
    for (let first = 0; first < flooded && reopened === 0; first += 1000) {
      const answers = await Promise.all(keysFrom(first).map((key) => bare.peek(key)))
      reopened = answers.filter(({ allowed }) => allowed).length
    }
    expect(reopened).toBeGreaterThan(0)
  })
})
