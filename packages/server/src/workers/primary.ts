import cluster, { type Worker } from 'node:cluster'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { AggregatorRegistry } from 'prom-client'
import type { RuleOptions } from 'tidegate'
import { onHangup } from '../commands/hangup.ts'
import { NOTICE_MS, shutdownSignal } from '../commands/shutdown.ts'
import type { Settings } from '../settings/settings.ts'
import { Acceptor } from './acceptor.ts'
import { printAddresses } from './alone.ts'
import { Channel } from './channel.ts'
import type { Addresses } from './fleet.ts'
import { CONNECTION, type Welcome } from './worker.ts'

/** The first pause before a worker that has died is started again, and the longest; each is twice the one before. Ms. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
/** A worker that has served for so long was sound: the next pause is the first again. Ms. */
const SOUND_MS = 10_000
/** How long the answers of all workers are waited for by one of them that is asked: less than it waits itself. Ms. */
const OTHERS_MS = 2_000

/** So many connections wait at most for a worker to take them; then the others get them. */
const MOST_HANDED = 256

/** What one worker has measured. */
type Measured = Awaited<ReturnType<AggregatorRegistry<'text/plain; version=0.0.4; charset=utf-8'>['getMetricsAsJSON']>>

/**
 * Starts so many processes, each of which serves on the same ports, hands connections of HTTP to them, and starts again those that die. Signals reach all.
 * @returns the exit code, when all have ended
 */
export async function serveByWorkers({ workers, host, http }: Settings, logger: Logger): Promise<number> {
  const acceptor = new Acceptor()
  const address = await acceptor.listen(host, http)
  try {
    return await new Workers(workers, acceptor, address, logger).run()
  } finally {
    acceptor.close()
  }
}

class Workers {
  readonly #count: number
  readonly #acceptor: Acceptor
  readonly #http: string
  readonly #logger: Logger
  readonly #channels = new Map<Worker, Channel>()
  /** Those that were put over HTTP, until the file is read again. */
  #rules: RuleOptions[] | undefined
  #isEnding = false
  #isServing = false
  #deaths = 0
  #exitCode = 0

  constructor(count: number, acceptor: Acceptor, http: string, logger: Logger) {
    this.#count = count
    this.#acceptor = acceptor
    this.#http = http
    this.#logger = logger
  }

  async run(): Promise<number> {
    const signal = shutdownSignal()
    const hangup = onHangup()
    // The first alone: whatever keeps a process from serving is then told once.
    const first = await this.#start()
    if (first === undefined) return this.#exitCode
    const others = await Promise.all(Array.from({ length: this.#count - 1 }, () => this.#start()))
    if (others.includes(undefined)) return this.#end('SIGTERM')
    this.#isServing = true
    printAddresses(first)
    this.#logger.info({ workers: this.#count }, 'all workers serve')
    hangup.tell(() => {
      this.#rules = undefined
      this.#tellAll('reload')
    })
    return this.#end(await signal)
  }

  async #end(signal: string): Promise<number> {
    this.#isEnding = true
    this.#logger.info({ signal }, 'the workers are asked to end')
    this.#tellAll('drain', signal)
    await sleep(NOTICE_MS)
    this.#acceptor.close()
    // Behind all connections that it has been handed.
    this.#tellAll('unlistened')
    while (this.#channels.size > 0) await new Promise((resolve) => cluster.once('exit', resolve))
    this.#logger.info('all workers have ended')
    return this.#exitCode
  }

  /** Resolves to where it listens, or to undefined where it has ended before it did. */
  #start(): Promise<Addresses | undefined> {
    const started = performance.now()
    const worker = cluster.fork()
    const channel = new Channel((message) => {
      if (worker.isConnected()) worker.send(message)
    })
    this.#channels.set(worker, channel)
    worker.on('message', (message) => channel.receive(message))
    channel.handle('hello', (): Welcome => ({ rules: this.#rules, http: this.#http }))
    channel.handle('metrics', () => this.#measure())
    channel.handle('share-rules', (rules) => this.#share(worker, rules as RuleOptions[]))
    channel.handle('share-event', (event) => {
      for (const other of this.#channels.values()) if (other !== channel) other.tell('event', event)
    })
    const handed = new Set<Socket>()
    const take = (socket: Socket): boolean => {
      if (!worker.isConnected() || handed.size >= MOST_HANDED) return false
      handed.add(socket)
      socket.once('close', () => handed.delete(socket))
      worker.send(CONNECTION, socket, () => {
        handed.delete(socket)
        if (handed.size === 0) this.#acceptor.handWaiting()
      })
      return true
    }
    return new Promise((resolve) => {
      channel.handle('listens', (addresses) => {
        if (!this.#isEnding) this.#acceptor.add(take)
        resolve(addresses as Addresses)
      })
      // Nobody else need know of one whose process is gone before it says so.
      worker.on('error', () => undefined)
      worker.once('disconnect', () => this.#acceptor.remove(take))
      worker.once('exit', (code, signal) => {
        this.#acceptor.remove(take)
        this.#channels.delete(worker)
        channel.close()
        // What it has not taken nobody will answer.
        for (const socket of handed) socket.destroy()
        resolve(undefined)
        if (this.#isServing && !this.#isEnding) void this.#startAgain(worker, { code, signal }, started)
        else if (code !== 0) this.#exitCode = 1
      })
    })
  }

  async #startAgain(worker: Worker, how: { code: number; signal: string | null }, started: number): Promise<void> {
    if (performance.now() - started >= SOUND_MS) this.#deaths = 0
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#deaths, LONGEST_PAUSE_MS)
    this.#deaths = Math.min(this.#deaths + 1, 10)
    this.#logger.error({ worker: worker.process.pid, ...how, pauseMs }, 'a worker has died; it is started again')
    await sleep(pauseMs)
    if (!this.#isEnding) await this.#start()
  }

  #tellAll(name: string, value?: unknown): void {
    for (const channel of this.#channels.values()) channel.tell(name, value)
  }

  /** Sums, or what each metric says that it is instead. A worker that does not answer is left out. */
  async #measure(): Promise<string> {
    const asked = [...this.#channels.values()].map((channel) => channel.ask('measure', undefined, OTHERS_MS))
    const answers = await Promise.allSettled(asked)
    const measured = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value as Measured] : []))
    return AggregatorRegistry.aggregate(measured).metrics()
  }

  async #share(from: Worker, rules: RuleOptions[]): Promise<void> {
    this.#rules = rules
    const others = [...this.#channels].filter(([worker]) => worker !== from)
    const answers = await Promise.allSettled(others.map(([, channel]) => channel.ask('rules', rules, OTHERS_MS)))
    for (const answer of answers) {
      if (answer.status === 'rejected') this.#logger.error({ err: answer.reason }, 'a worker has not taken the rules')
    }
  }
}
