import { Redis } from 'ioredis'
import { findPart } from './parts.ts'
import { freePort, type Service, startService, temporaryFolder } from './service.ts'

/** The two servers that speak the protocol of Redis. */
export type RedisPart = 'redis-server' | 'valkey-server'

/** A real Redis on loopback without persistence; at a free port, unless one is given. */
export function startRedis(options: readonly string[] = [], givenPort?: number): Promise<Service> {
  return startServer('redis-server', options, givenPort)
}

/** The same with Valkey. */
export function startValkey(options: readonly string[] = [], givenPort?: number): Promise<Service> {
  return startServer('valkey-server', options, givenPort)
}

/** Either of the two. */
export async function startServer(
  part: RedisPart,
  options: readonly string[] = [],
  givenPort?: number,
): Promise<Service> {
  const binary = findPart(part)
  if (binary === undefined) throw new Error(`${part} is not installed`)
  const port = givenPort ?? (await freePort())
  const folder = await temporaryFolder('redis')
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  return startService(binary, [...args, ...options], { port, folder }, () => answers(port))
}

/** Whether a server or Sentinel at the port answers PING. */
export async function answers(port: number): Promise<boolean> {
  const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.ping()) === 'PONG'
  } finally {
    client.disconnect()
  }
}

/** A connection for what only a test's author does: FLUSHALL, CLUSTER SETSLOT, CLIENT KILL. It outlives a restart. */
export function administrate(port: number): Redis {
  const client = new Redis(port, '127.0.0.1', { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 })
  client.on('error', () => undefined)
  return client
}
