import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { openStore } from '../store/open-store.ts'
import { type ListeningService, listeningService } from './listening-service.ts'

export const rules = [{ name: 'per-user', key: ['user'], limit: 2, window: '1m', onStoreFailure: 'deny' as const }]

/** So that what is seen is the store: a busy machine misses no deadline, and the breaker has tests of its own. */
const PATIENT = { deadlineMs: 5000, instances: 1, breaker: { failures: 1_000_000, minimum: 1_000_000 } }

/** What the store has logged, parsed. */
export type StoreLog = { level: number; msg: string; reason?: string; kind?: string }[]

/** A service whose counts are in the Redis at a port. */
export async function serviceOnRedis(
  port: number,
  { login = '', database = '' } = {},
): Promise<{ service: ListeningService; log: StoreLog; close(): Promise<void> }> {
  const log: StoreLog = []
  const logger = pino({}, { write: (line: string) => void log.push(JSON.parse(line)) })
  const open = await openStore(`redis://${login}127.0.0.1:${port}/${database}`, logger, PATIENT)
  const service = await listeningService({ rules, store: open.store })
  const close = async () => {
    await service.close()
    await open.close()
  }
  return { service, log, close }
}

/** `ready`, or `degraded` where the store does not answer; the status is 200 then too. */
export async function readiness({ url }: ListeningService): Promise<string> {
  const response = await fetch(`${url}/readyz`)
  const { status } = (await response.json()) as { status: string }
  return response.status === 200 ? status : String(response.status)
}

/** Waits until something is so. @throws Error after 20 s */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('not so after 20 s')
    await sleep(50)
  }
}
