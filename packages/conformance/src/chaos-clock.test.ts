import { setTimeout as sleep } from 'node:timers/promises'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { sum } from './chaos/load.ts'
import { LIMIT, type Rig, startRig, underFault } from './chaos/rig.ts'
import { findPart, howToInstall } from './services/parts.ts'

const skipped = findPart('redis-server') === undefined
const HOUR_MS = 3_600_000

let rig: Rig | undefined
afterEach(async () => {
  vi.useRealTimers()
  await rig?.close()
  rig = undefined
})

describe.skipIf(skipped)(`chaos of clocks ${skipped ? howToInstall('redis-server') : ''}`, () => {
  test('our clock jumps an hour ahead and two back: Redis decides, and nothing is taken for late', {
    timeout: 60_000,
  }, async () => {
    const one = await startRig({ store: { deadlineMs: 1000 } })
    rig = one
    const phases = await underFault(one, async () => {
      vi.useFakeTimers({ toFake: ['Date'] })
      for (const jump of [HOUR_MS, -2 * HOUR_MS, HOUR_MS]) {
        vi.setSystemTime(Date.now() + jump)
        await sleep(300)
      }
      vi.useRealTimers()
    })
    expect(phases.all.flatMap(({ errors }) => errors)).toEqual([])
    expect(one.told.fallback).toEqual([])
    const given = phases.all.map(({ admitted }) => admitted)
    expect(await one.used()).toBe(sum(given, 'store'))
  })

  test.each([-HOUR_MS, HOUR_MS])(
    'a process that begins with its clock %i ms wrong is decided by Redis from the first on',
    async (skew) => {
      const one = await startRig()
      rig = one
      vi.useFakeTimers({ toFake: ['Date'] })
      vi.setSystemTime(Date.now() + skew)
      // A deadline that a busy machine does not miss.
      const store = redisStore(one.client, { deadlineMs: 5000 })
      const limiter = createLimiter({ ...LIMIT, store })
      for (let i = 1; i <= 10; i++) expect(await limiter.limit('k')).toMatchObject({ source: 'store', used: i })
    },
  )
})
