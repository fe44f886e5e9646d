import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A program started for a test, in a folder of its own. */
export interface Service {
  readonly port: number
  readonly folder: string
  readonly process: ChildProcess
  /** Ends the program by its own pid, waits for it, and removes its folder. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

const START_MS = 30_000

/** A TCP port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1)
  return port as number
}

/** Different TCP ports of loopback, all of them free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  for (const server of servers) {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  }
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  for (const server of servers) await new Promise((resolve) => server.close(resolve))
  return ports
}

/** A new folder for one service. */
export function temporaryFolder(name: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `tidegate-${name}-`))
}

/**
 * Starts a program and waits until it is ready.
 * @param ready resolves to true when the program answers
 * @throws Error with the program's output where it ends or stays silent for so long, 30 s by default
 */
export async function startService(
  command: string,
  args: readonly string[],
  place: { port: number; folder: string; env?: NodeJS.ProcessEnv },
  ready: () => Promise<boolean>,
  startMs = START_MS,
): Promise<Service> {
  const child = spawn(command, args, {
    cwd: place.folder,
    env: { ...process.env, ...place.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-8192)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await ended
    await rm(place.folder, { recursive: true, force: true })
  }
  const deadline = Date.now() + startMs
  while (!(await ready().catch(() => false))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop('SIGKILL')
      throw new Error(`${command} did not start:\n${output}`)
    }
    await sleep(20)
  }
  return { port: place.port, folder: place.folder, process: child, stop }
}
