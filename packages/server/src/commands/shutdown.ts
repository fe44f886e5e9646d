import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Lifecycle } from '../http/health-routes.ts'

/** How long a draining service still takes requests, so that gateways see /readyz and `Connection: close` first. Milliseconds. */
const NOTICE_MS = 500
/** How long requests in flight may take to finish before their connections are cut. Milliseconds. */
const PATIENCE_MS = 10_000

/** Resolves with the first SIGTERM or SIGINT. A second one ends the process at once. */
export function shutdownSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        resolve(signal)
        for (const again of ['SIGTERM', 'SIGINT'] as const) process.on(again, () => process.exit(1))
      })
    }
  })
}

/**
 * Ends a service without failing a request. Closing idle connections at once would meet requests
 * that are on their way; so each answer first says that its connection ends, and only then is
 * nothing more accepted, and what is in flight finished.
 */
export async function drain(service: FastifyInstance, lifecycle: Lifecycle): Promise<void> {
  lifecycle.draining = true
  await sleep(NOTICE_MS)
  const cut = setTimeout(() => service.server.closeAllConnections(), PATIENCE_MS)
  await service.close()
  clearTimeout(cut)
}
