import type { Redis } from 'ioredis'
import { readServerTime, resetServerTime } from '../command-stats.ts'
import type { RedisServer } from '../redis-server.ts'
import { type Spread, spread } from '../rounds.ts'
import type { Ask, Engine, Quota } from './engine.ts'

/** An engine with a client and an emptied database of its own, and what each measurement of it has cost. */
export interface Running extends Engine {
  readonly client: Redis
  readonly ask: Ask
  /** Whose time is counted. */
  readonly servers: readonly Redis[]
  /** Microseconds of the server for a decision, one figure for each measurement; likewise of this process. */
  readonly serverTimes: number[]
  readonly clientTimes: number[]
}

/** Redis has 16 databases. */
let database = 0

export async function run(engines: readonly Engine[], server: RedisServer, quota: Quota): Promise<Running[]> {
  const running: Running[] = []
  for (const engine of engines) {
    database = (database % 15) + 1
    const client = await server.client(database)
    const ask = await engine.open(client, quota)
    running.push({ ...engine, client, ask, servers: [client], serverTimes: [], clientTimes: [] })
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

/** After so many decisions in this process each worker lets the sockets be read, as a server would between requests. */
const TURN = 16
/** How often a look at the clock is taken, in decisions. */
const CLOCK = 32

/**
 * Decisions per second with `inFlight` of them waiting for an answer at any time, for so many seconds. All engines are
 * asked for the same keys in the same order.
 */
export async function decideMany(
  running: Running,
  requests: readonly string[],
  inFlight: number,
  seconds: number,
): Promise<number> {
  const { ask, servers, isLocal = false, serverTimes, clientTimes } = running
  let decisions = 0
  let isOver = false
  const work = async () => {
    for (let turn = 1; !isOver; turn++) {
      await ask(requests[decisions++ % requests.length] as string)
      if (decisions % CLOCK === 0) isOver = performance.now() - start > seconds * 1000
      if (isLocal && turn % TURN === 0) await new Promise(setImmediate)
    }
  }
  await resetServerTime(...servers)
  const used = process.cpuUsage()
  const start = performance.now()
  await Promise.all(Array.from({ length: inFlight }, work))
  const elapsed = performance.now() - start
  const { user, system } = process.cpuUsage(used)
  clientTimes.push((user + system) / decisions)
  serverTimes.push((await readServerTime(...servers)).microseconds / decisions)
  return (decisions / elapsed) * 1000
}

/** The first figure is that of the round that warms up. */
export function ofRounds(figures: readonly number[]): Spread {
  return spread(figures.slice(1))
}
