import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { findPart, howToInstall } from './services/parts.ts'
import { startRedis } from './services/redis.ts'
import type { Service } from './services/service.ts'
import { startTidegate } from './services/tidegate.ts'
import { waitFor } from './services/wait-for.ts'

const skipped = findPart('redis-server') === undefined
const RULES = `
rules:
  - { name: many, key: [user], limit: 1000000, window: 1h }
  - { name: few, match: { route: /pay }, key: [user], limit: 1000000, window: 1h, onStoreFailure: deny }
`

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

interface Decision {
  readonly allowed: boolean
  readonly source: string
  readonly reason: string
}

async function ask({ port }: Service, descriptor: Record<string, string>): Promise<[number, Decision]> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ descriptor }) }
  const response = await fetch(`http://127.0.0.1:${port}/v1/limit`, init)
  return [response.status, (await response.json()) as Decision]
}

/** Asks without pause, and counts the answers by status and source. */
function underLoad(service: Service) {
  const seen: Record<string, number> = {}
  let isEnded = false
  const work = async (descriptor: Record<string, string>) => {
    while (!isEnded) {
      const [status, { source, reason }] = await ask(service, descriptor).catch((error: Error): [number, Decision] => {
        return [0, { allowed: false, source: error.message, reason: '' }]
      })
      const answer = `${status} ${source} ${reason}`
      seen[answer] = (seen[answer] ?? 0) + 1
      await sleep(1)
    }
  }
  const working = [
    work({ user: 'u' }),
    work({ user: 'v' }),
    work({ user: 'u', route: '/pay' }),
    work({ user: 'v', route: '/pay' }),
  ]
  const end = async () => {
    isEnded = true
    await Promise.all(working)
  }
  cleanups.push(end)
  return { seen, end }
}

describe.skipIf(skipped)(`chaos of the service ${skipped ? howToInstall('redis-server') : ''}`, () => {
  test('Redis is killed and comes back: every answer is 200 or 429, each by its policy, and a SIGTERM drains all the same', {
    timeout: 90_000,
  }, async () => {
    const redis = await startRedis()
    cleanups.push(() => redis.stop('SIGKILL'))
    const service = await startTidegate(RULES, ['--redis', `redis://127.0.0.1:${redis.port}`, '--log-level', 'silent'])
    cleanups.push(() => service.stop('SIGKILL'))
    const { seen, end } = underLoad(service)
    await waitFor('an idle run', async () => (seen['200 store ok'] ?? 0) > 500)
    await redis.stop('SIGKILL')
    await waitFor('decisions without Redis', async () => (seen['200 local ok'] ?? 0) > 500)
    const readiness = await (await fetch(`http://127.0.0.1:${service.port}/readyz`)).json()
    expect(readiness).toMatchObject({ status: 'degraded', store: { fallbacks: expect.any(Object) } })
    const again = await startRedis([], redis.port)
    cleanups.push(() => again.stop('SIGKILL'))
    const before = seen['200 store ok'] ?? 0
    await waitFor('decisions by Redis', async () => (seen['200 store ok'] ?? 0) > before + 500)
    await again.stop('SIGKILL')
    await end()
    const known = ['200 store ok', '200 local ok', '429 local store_unavailable']
    expect(Object.keys(seen).filter((answer) => !known.includes(answer))).toEqual([])
    expect(seen['429 local store_unavailable'] ?? 0).toBeGreaterThan(100)
    service.process.kill('SIGTERM')
    await waitFor('its end', async () => service.process.exitCode === 0)
  })

  test('its rule file is gone: the rules of before go on, and it says so', { timeout: 60_000 }, async () => {
    const service = await startTidegate('rules: [{ name: one, limit: 1, window: 1h }]')
    cleanups.push(() => service.stop('SIGKILL'))
    let log = ''
    service.process.stdout?.on('data', (data) => {
      log += String(data)
    })
    expect((await ask(service, {}))[0]).toBe(200)
    await rm(join(service.folder, 'rules.yaml'))
    service.process.kill('SIGHUP')
    await waitFor('a word of it', async () => /"level":50/.test(log))
    expect(log).toContain('rules.yaml')
    expect((await ask(service, {}))[0]).toBe(429)
  })
})
