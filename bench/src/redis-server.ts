import { startRedis as startService } from '@tidegate/conformance/services'
import { Redis } from 'ioredis'
import { endsWithUs } from './children.ts'

/** A Redis of the benchmark's own, without persistence. */
export interface RedisServer {
  readonly version: string
  readonly port: number
  /** A new client of one of its databases, emptied. */
  client(database: number): Promise<Redis>
  /** Closes the clients and ends the server. */
  stop(): Promise<void>
}

/** @throws Error where no `redis-server` is installed, or it does not start */
export async function startRedis(): Promise<RedisServer> {
  const { port, process: server, stop: end } = await startService()
  endsWithUs(server)
  const clients: Redis[] = []
  const stop = async () => {
    for (const client of clients) client.disconnect()
    await end()
  }
  const client = async (database: number) => {
    const opened = new Redis({
      host: '127.0.0.1',
      port,
      db: database,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
    })
    clients.push(opened)
    await opened.flushdb()
    return opened
  }
  const version = /redis_version:(\S+)/.exec(await (await client(0)).info('server'))?.[1] ?? 'of unknown version'
  return { version, port, client, stop }
}
