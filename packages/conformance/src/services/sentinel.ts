import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { findPart } from './parts.ts'
import { administrate, answers, startRedis } from './redis.ts'
import { freePorts, type Service, startService, temporaryFolder } from './service.ts'
import { waitFor } from './wait-for.ts'

/** A primary, a replica, and the Sentinels that watch them under the name `SENTINEL_NAME`. */
export interface SentinelService {
  /** Where clients ask for the primary. */
  readonly sentinels: readonly { host: string; port: number }[]
  readonly servers: readonly Service[]
  /** The port of the primary, as the Sentinels have it. */
  primaryPort(): Promise<number>
  /** Asks for a failover, and waits until another server is the primary, and the former one its replica. */
  failOver(): Promise<void>
  /** Waits until the primary has a replica that is up to date, and so another failover can be. */
  replicated(): Promise<void>
  /** Waits until the other server than the one at `port` is the primary, and says so itself. */
  settled(port: number): Promise<void>
  stop(): Promise<void>
}

export const SENTINEL_NAME = 'tidegate'
const HOST = '127.0.0.1'

export async function startSentinel(): Promise<SentinelService> {
  const [primary, replica, ...sentinelPorts] = await freePorts(5)
  const started: Service[] = []
  let admin: Redis | undefined
  const stop = async () => {
    admin?.disconnect()
    await Promise.all(started.map((service) => service.stop('SIGKILL')))
  }
  try {
    const fast = ['--repl-diskless-sync-delay', '0', '--repl-ping-replica-period', '1']
    started.push(await startRedis(fast, primary))
    started.push(await startRedis([...fast, '--replicaof', HOST, String(primary)], replica))
    for (const port of sentinelPorts) started.push(await startOne(port, primary as number))
    admin = administrate(sentinelPorts[0] as number)
    await ready(admin, sentinelPorts.length)
  } catch (error) {
    await stop()
    throw error
  }
  const sentinel = admin
  const primaryPort = async () => {
    const address = (await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', SENTINEL_NAME)) as string[]
    return Number(address[1])
  }
  const settled = (port: number) =>
    waitFor('another primary', async () => {
      const now = await primaryPort()
      return now !== port && (await isPrimary(now))
    })
  const failOver = async () => {
    const before = await primaryPort()
    // Refused while the replica is not yet known as good after an earlier failover.
    await waitFor('a failover', async () => (await sentinel.call('SENTINEL', 'FAILOVER', SENTINEL_NAME)) === 'OK')
    await settled(before)
    // As the Sentinels would after ten seconds; but they would close its connections too, and so be of help to clients.
    const now = await primaryPort()
    await asking(before, (server) => server.replicaof(HOST, now))
  }
  const replicated = () =>
    waitFor('a replica', async () => {
      const info = await asking(await primaryPort(), (server) => server.info('replication'))
      return info.includes('state=online')
    })
  const sentinels = sentinelPorts.map((port) => ({ host: HOST, port }))
  return { sentinels, servers: started.slice(0, 2), primaryPort, failOver, replicated, settled, stop }
}

/** A Sentinel writes what it learns into its configuration, so that it needs a file of its own. */
async function startOne(port: number, primary: number): Promise<Service> {
  const folder = await temporaryFolder('sentinel')
  const lines = [
    `port ${port}`,
    `bind ${HOST}`,
    `dir ${folder}`,
    `sentinel monitor ${SENTINEL_NAME} ${HOST} ${primary} 2`,
    `sentinel down-after-milliseconds ${SENTINEL_NAME} 1000`,
    `sentinel failover-timeout ${SENTINEL_NAME} 5000`,
  ]
  const file = join(folder, 'sentinel.conf')
  await writeFile(file, `${lines.join('\n')}\n`)
  return startService(findPart('redis-server') as string, [file, '--sentinel'], { port, folder }, () => answers(port))
}

async function ready(sentinel: Redis, count: number): Promise<void> {
  await waitFor('the Sentinels', async () => {
    const [replicas, others] = (await Promise.all([
      sentinel.call('SENTINEL', 'REPLICAS', SENTINEL_NAME),
      sentinel.call('SENTINEL', 'SENTINELS', SENTINEL_NAME),
    ])) as [string[][], string[][]]
    return replicas.length === 1 && replicas.flat().includes('ok') && others.length === count - 1
  })
}

async function isPrimary(port: number): Promise<boolean> {
  const [role] = (await asking(port, (server) => server.call('ROLE'))) as unknown[]
  return role === 'master'
}

async function asking<T>(port: number, question: (server: Redis) => Promise<T>): Promise<T> {
  const server = administrate(port)
  try {
    return await question(server)
  } finally {
    server.disconnect()
  }
}
