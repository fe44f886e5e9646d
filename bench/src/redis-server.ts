import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'

/** A Redis of the benchmark's own, without persistence. */
export interface RedisServer {
  readonly version: string
  /** A new client of one of its databases, emptied. */
  client(database: number): Promise<Redis>
  /** Closes the clients and ends the server. */
  stop(): Promise<void>
}

/** @throws Error where no `redis-server` is on the PATH, or it does not start */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-bench-'))
  const settings = ['--save', '', '--appendonly', 'no', '--bind', '127.0.0.1', '--databases', '16']
  const server = spawn('redis-server', ['--port', String(port), '--dir', folder, ...settings], { stdio: 'ignore' })
  // An error thrown later on must not leave it behind.
  const kill = () => server.kill('SIGKILL')
  process.once('exit', kill)
  const clients: Redis[] = []
  const stop = async () => {
    for (const client of clients) client.disconnect()
    await end(server)
    process.off('exit', kill)
    await rm(folder, { recursive: true, force: true })
  }
  const client = async (database: number) => {
    const opened = new Redis({ host: '127.0.0.1', port, db: database })
    clients.push(opened)
    await opened.flushdb()
    return opened
  }
  try {
    await started(server)
    await listening(port)
    const version = /redis_version:(\S+)/.exec(await (await client(0)).info('server'))?.[1] ?? 'of unknown version'
    return { version, client, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function started(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('spawn', resolve)
    server.once('error', (error) => reject(new Error(`redis-server: ${error.message}`)))
  })
}

const START_MS = 5000

async function listening(port: number): Promise<void> {
  const deadline = Date.now() + START_MS
  while (!(await accepts(port))) {
    if (Date.now() > deadline) throw new Error(`redis-server does not listen after ${START_MS} ms`)
    await pause(20)
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.end())
  })
}

function end(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    server.once('exit', () => resolve())
    server.kill('SIGTERM')
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))))
    })
  })
}
