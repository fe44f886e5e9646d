import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLimiter } from 'tidegate'
import { redisStore } from 'tidegate/redis'
import { afterEach, describe, expect, test } from 'vitest'
import { findPart, howToInstall } from './services/parts.ts'
import { administrate, startRedis } from './services/redis.ts'
import { waitFor } from './services/wait-for.ts'

const GATEWAY = join(import.meta.dirname, '../dist/chaos/gateway.js')
const skipped = findPart('redis-server') === undefined
const [GATEWAYS, LIMIT, LEASE_MS] = [8, 16, 2000]

interface Line {
  readonly admitted: number
  readonly local: number
  readonly errors: number
  readonly instances: number
}

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A gateway of its own process, and what it last said. */
function startGateway(port: number, name: string) {
  const child: ChildProcess = spawn(process.execPath, [GATEWAY, port, name, LIMIT, LEASE_MS].map(String), {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gateway = { name, child, said: { admitted: 0, local: 0, errors: 0, instances: 0 } as Line }
  child.stdout?.on('data', (data) => {
    const line = String(data).trimEnd().split('\n').at(-1)
    if (line?.endsWith('}')) gateway.said = JSON.parse(line) as Line
  })
  cleanups.push(() => child.kill('SIGKILL'))
  return gateway
}

describe.skipIf(skipped)(`chaos of gateways ${skipped ? howToInstall('redis-server') : ''}`, () => {
  test('8 of them, one killed with what it holds: never more than the limit, its leases end, the others have its share', {
    timeout: 90_000,
  }, async ({ annotate }) => {
    const server = await startRedis()
    cleanups.push(() => server.stop('SIGKILL'))
    const admin = administrate(server.port)
    cleanups.push(() => admin.disconnect())
    const options = { name: 'slots', algorithm: 'concurrency', limit: LIMIT, window: LEASE_MS } as const
    const watching = createLimiter({ ...options, store: redisStore(admin, { guarded: false }) })
    const gateways = Array.from({ length: GATEWAYS }, (_, i) => startGateway(server.port, `g${i}`))
    const [victim, ...others] = gateways as [(typeof gateways)[0], ...typeof gateways]
    await waitFor('all to be seen', async () => gateways.every(({ said }) => said.instances === GATEWAYS))

    const held: number[] = []
    const leasesOf = async (name: string) => {
      const entries = await watching.entries('k')
      held.push(entries.reduce((sum, { cost }) => sum + cost, 0))
      return entries.filter(({ id }) => id.startsWith(`${name}-`)).length
    }
    for (let i = 0; i < 50; i++) {
      await leasesOf('g0')
      await sleep(10)
    }
    await waitFor('leases of the one', async () => (await leasesOf(victim.name)) > 0)
    victim.child.kill('SIGKILL')
    const before = others.map(({ said }) => said.admitted)
    await waitFor('the end of its leases', async () => (await leasesOf(victim.name)) === 0, 2 * LEASE_MS)
    await waitFor('the others to go on', async () =>
      others.every(({ said }, i) => said.admitted > (before[i] as number) + 20),
    )
    for (let i = 0; i < 50; i++) {
      await leasesOf('g0')
      await sleep(10)
    }
    expect(Math.max(...held)).toBeLessThanOrEqual(LIMIT)
    expect(Math.max(...held)).toBeGreaterThan(LIMIT / 2)
    expect(others.map(({ said }) => [said.local, said.errors])).toEqual(others.map(() => [0, 0]))
    await waitFor('it to be missed', async () => others.every(({ said }) => said.instances === GATEWAYS - 1), 30_000)
    await annotate(`at most ${Math.max(...held)} of ${LIMIT} held at a time`)
  })
})
