import type { Redis } from 'ioredis'
import { readServerTime, resetServerTime } from '../command-stats.ts'
import type { Plan } from '../plan.ts'
import type { RedisServer } from '../redis-server.ts'
import { type Spread, spread } from '../rounds.ts'
import type { Ask, Engine, Quota } from './engine.ts'

/** An engine with a client and an emptied database of its own, and what each measurement of it has cost. */
export interface Running extends Engine {
  readonly client: Redis
  readonly ask: Ask
  readonly decisions: number
  /** Microseconds of the server for a decision, one figure for each measurement; likewise of this process. */
  readonly serverTimes: number[]
  readonly clientTimes: number[]
}

/** How long each engine works in one round, about, on a machine that is its own. */
const SECONDS = 0.5

/** Redis has 16 databases. */
let database = 0

export async function run(
  engines: readonly Engine[],
  server: RedisServer,
  quota: Quota,
  { scale }: Plan,
): Promise<Running[]> {
  const running: Running[] = []
  for (const engine of engines) {
    database = (database % 15) + 1
    const client = await server.client(database)
    const ask = await engine.open(client, quota)
    const decisions = Math.max(1000, Math.round(engine.speed * 1000 * SECONDS * scale))
    running.push({ ...engine, client, ask, decisions, serverTimes: [], clientTimes: [] })
  }
  return running
}

/** Empties what they leave, so that the next begin with as much memory. */
export async function end(running: readonly Running[]): Promise<void> {
  for (const { client } of running) {
    await client.flushdb()
    client.disconnect()
  }
}

/** So many decisions of one worker, and it lets the sockets be read: where all is decided at once, nothing else would. */
const TURN = 256

/**
 * Decisions per second with `inFlight` of them waiting for an answer at any time. All engines are asked for the same keys
 * in the same order.
 */
export async function decideMany(running: Running, requests: readonly string[], inFlight: number): Promise<number> {
  const { client, ask, decisions, serverTimes, clientTimes } = running
  let next = 0
  const work = async () => {
    for (let turn = 1; next < decisions; turn++) {
      await ask(requests[next++ % requests.length] as string)
      if (turn % TURN === 0) await new Promise(setImmediate)
    }
  }
  await resetServerTime(client)
  const used = process.cpuUsage()
  const start = performance.now()
  await Promise.all(Array.from({ length: inFlight }, work))
  const elapsed = performance.now() - start
  const { user, system } = process.cpuUsage(used)
  clientTimes.push((user + system) / decisions)
  serverTimes.push((await readServerTime(client)).microseconds / decisions)
  return (decisions / elapsed) * 1000
}

/** The first figure is that of the round that warms up. */
export function ofRounds(figures: readonly number[]): Spread {
  return spread(figures.slice(1))
}
