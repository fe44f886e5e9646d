import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createGate } from 'tidegate'
import { loadConfig } from '../config/load-config.ts'
import { formatProblem } from '../config/problem.ts'
import { ServiceError } from '../errors.ts'
import type { Lifecycle } from '../http/health-routes.ts'
import { createService } from '../http/service.ts'
import { readSettings } from '../settings/read-settings.ts'
import { openStore } from '../store/open-store.ts'
import { onHangup } from './hangup.ts'
import { logWarnings, reload, type Served } from './reload.ts'
import { drain, shutdownSignal } from './shutdown.ts'

/** Serves until a signal ends it. Logs go to stdout as JSON, words for people to stderr. */
export async function serve(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const settings = readSettings(args, environment)
  const loaded = loadConfig(settings.config)
  if ('problems' in loaded) {
    for (const problem of loaded.problems) process.stderr.write(`${formatProblem(settings.config, problem)}\n`)
    return 1
  }
  const { rules, ...forwardAuth } = loaded.config
  const logger = pino({ name: 'tidegate', level: settings.logLevel })
  const signal = shutdownSignal()
  const hangup = onHangup()
  const lifecycle: Lifecycle = { phase: 'serving' }
  const { store, close } = await openStore(settings.redis, logger)
  try {
    const gate = createGate({ rules, store })
    const served: Served = { gate, forwardAuth }
    const service = createService({
      gate,
      store,
      isTrusted: settings.trustProxy,
      forwardAuth: () => served.forwardAuth,
      logger,
      lifecycle,
    })
    const address = await listen(service, settings.host, settings.http)
    logger.info({ address, config: settings.config, rules: rules.length, version: gate.version }, 'listening')
    process.stderr.write(`tidegate: listening on ${address}\n`)
    logWarnings(settings.config, loaded, logger)
    hangup.tell(() => reload({ file: settings.config, served, lifecycle, logger }))
    logger.info({ signal: await signal }, 'draining')
    await drain(service, lifecycle)
    await gate.close()
    logger.info('drained')
    return 0
  } finally {
    await close()
  }
}

/** Why an address cannot be had, by the code of the system. */
const UNAVAILABLE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not listen there; ports below 1024 are often reserved',
  ENOTFOUND: 'there is no such host',
}

/** Resolves to the URL, with the port that was taken. */
async function listen(service: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    await service.listen({ host, port, listenTextResolver: (address) => `accepting connections on ${address}` })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const reason = UNAVAILABLE[code ?? '']
    throw new ServiceError(
      'ERR_CANNOT_LISTEN',
      `cannot listen on ${host}:${port}: ${reason ?? (cause as Error).message}`,
      { cause },
    )
  }
  const { address, family, port: taken } = service.server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`
}
