import { Redis } from 'ioredis'
import { findPart } from './parts.ts'
import { freePort, type Service, startService, temporaryFolder } from './service.ts'

/** A real Redis on loopback without persistence; at a free port, unless one is given. */
export async function startRedis(options: readonly string[] = [], givenPort?: number): Promise<Service> {
  const binary = findPart('redis-server')
  if (binary === undefined) throw new Error('redis-server is not installed')
  const port = givenPort ?? (await freePort())
  const folder = await temporaryFolder('redis')
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
  const ready = async () => {
    const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return (await client.ping()) === 'PONG'
    } finally {
      client.disconnect()
    }
  }
  return startService(binary, [...args, ...options], { port, folder }, ready)
}
