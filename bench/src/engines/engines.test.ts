import { findPart, howToInstall, type Service, startRedis } from '@tidegate/conformance/services'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { emptyScript } from './empty-script.ts'
import { fixedWindows } from './fixed-windows.ts'
import { logs } from './logs.ts'
import { memoryEngines } from './memory.ts'
import { cached, exact, fixedWindow, inBatches } from './tidegate.ts'
import { upstash } from './upstash.ts'

const isMissing = findPart('redis-server') === undefined
const ours = [exact, cached, fixedWindow, inBatches(1), inBatches(64)]
const peers = [...Object.values(fixedWindows), ...Object.values(upstash), ...Object.values(logs)]

/** An engine that is asked wrongly could be fast for nothing. */
describe.skipIf(isMissing)(`engines in Redis ${isMissing ? howToInstall('redis-server') : ''}`, () => {
  let service: Service
  let client: Redis

  beforeAll(async () => {
    service = await startRedis()
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    // It stands still, so that no edge of a window of the clock comes between.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    client = new Redis(service.port, '127.0.0.1', { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })
    await client.flushall()
  })
  afterEach(() => {
    vi.useRealTimers()
    client.disconnect()
  })

  test.each([...ours, ...peers])('$name admits three of five requests, for each key', async ({ open }) => {
    const ask = await open(client, { limit: 3, seconds: 3600 })
    for (const key of ['a', 'b']) {
      const answers: boolean[] = []
      for (let i = 0; i < 5; i++) answers.push(await ask(key))
      expect(answers).toEqual([true, true, true, false, false])
    }
  })

  test('the empty script admits all', async () => {
    const ask = await emptyScript.open(client, { limit: 1, seconds: 1 })
    expect([await ask('a'), await ask('a')]).toEqual([true, true])
    expect(await client.dbsize()).toBe(0)
  })
})

test.each(Object.entries(memoryEngines))('%s works in memory for as long as it is told', async (_, engine) => {
  const requests = ['a', 'b', 'a', 'c']
  const work = await engine(requests)
  expect(await work(requests, 0.001)).toBeGreaterThan(0)
})
