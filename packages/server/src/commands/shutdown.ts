import { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { GrpcServer } from '../grpc/server.ts'
import type { Lifecycle } from '../http/health-routes.ts'
import type { Fleet } from '../workers/fleet.ts'

/** How long gateways have to see /readyz and send new work elsewhere. Milliseconds. */
export const NOTICE_MS = 500
/** How long open connections then have for one more request, whose answer ends them. Milliseconds. */
const FAREWELL_MS = 500
/** How long requests in flight may take to finish before their connections are cut. Milliseconds. */
const PATIENCE_MS = 10_000

/** A signal this soon after the first is the same one: npx hands on what the terminal sends to both. Milliseconds. */
const SAME_SIGNAL_MS = 100

/** Resolves with the first SIGTERM or SIGINT. A second one ends the process at once, with exit code 1. */
export function shutdownSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first: number | undefined
    const receive = (signal: NodeJS.Signals): void => {
      if (first === undefined) {
        first = performance.now()
        resolve(signal)
      } else if (performance.now() - first > SAME_SIGNAL_MS) {
        process.exit(1)
      }
    }
    process.on('SIGTERM', receive)
    process.on('SIGINT', receive)
  })
}

/**
 * Ends a service without failing a request. Closing everything at once would cut off requests that
 * are on their way over connections that seem idle. So the service first says on /readyz that it is
 * leaving; then takes no new connections, and says on the others, with each answer, that it was the
 * last; and only then closes those that had nothing to ask, and finishes what is in flight. gRPC clients learn the same
 * from the health service, and then from GOAWAY, which lets them finish what they have begun.
 */
export async function drain(
  service: FastifyInstance,
  lifecycle: Lifecycle,
  fleet: Pick<Fleet, 'unlistened' | 'closeConnections'>,
  grpc?: GrpcServer,
): Promise<void> {
  lifecycle.phase = 'leaving'
  grpc?.leave()
  await sleep(NOTICE_MS)
  lifecycle.phase = 'closing'
  // The method of an HTTP server would close idle connections as well.
  Server.prototype.close.call(service.server)
  await fleet.unlistened
  await sleep(FAREWELL_MS)
  const cut = setTimeout(() => service.server.closeAllConnections(), PATIENCE_MS)
  await Promise.all([fleet.closeConnections(PATIENCE_MS), service.close(), grpc?.close(PATIENCE_MS)])
  clearTimeout(cut)
}
