import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createGate, type Gate, type Store } from 'tidegate'
import { loadConfig } from '../config/load-config.ts'
import { formatProblem } from '../config/problem.ts'
import { loadLimits } from '../envoy/limits.ts'
import { configuredRateLimiting, type RateLimiting } from '../envoy/rate-limiting.ts'
import { ruleLimiting } from '../envoy/rule-limiting.ts'
import { ServedLimits } from '../envoy/served-limits.ts'
import { ServiceError } from '../errors.ts'
import { serverCredentials } from '../grpc/credentials.ts'
import { GrpcServer } from '../grpc/server.ts'
import type { Lifecycle } from '../http/health-routes.ts'
import { createService } from '../http/service.ts'
import { readSettings } from '../settings/read-settings.ts'
import type { Settings } from '../settings/settings.ts'
import { unavailableReason } from '../settings/unavailable-reason.ts'
import { openStore } from '../store/open-store.ts'
import { onHangup } from './hangup.ts'
import { logWarnings, reload, type Served } from './reload.ts'
import { drain, shutdownSignal } from './shutdown.ts'

/** Serves until a signal ends it. Logs go to stdout as JSON, words for people to stderr. */
export async function serve(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const settings = readSettings(args, environment)
  const loaded = loadConfig(settings.config)
  if ('problems' in loaded) return complain(loaded.problems.map((problem) => formatProblem(settings.config, problem)))
  const limits = readLimits(settings)
  if (limits !== undefined && 'problems' in limits) return complain(limits.problems)
  const credentials = serverCredentials({
    certificate: settings.grpcTlsCert,
    key: settings.grpcTlsKey,
    clientAuthority: settings.grpcTlsClientCa,
  })
  const { rules, ...forwardAuth } = loaded.config
  const logger = pino({ name: 'tidegate', level: settings.logLevel })
  const signal = shutdownSignal()
  const hangup = onHangup()
  const lifecycle: Lifecycle = { phase: 'serving' }
  const { store, close } = await openStore(settings.redis, logger)
  const served: Served = { gate: createGate({ rules, store }), forwardAuth }
  const { gate } = served
  const servedLimits =
    limits && new ServedLimits(settings.ratelimitConfig, loadOptions(settings), limits.limits, logger)
  const rateLimiting = rateLimitingOf(settings, gate, store, servedLimits)
  const isTrusted = settings.trustProxy
  const answering = { gate, rateLimiting, forwardAuth: () => served.forwardAuth, isTrusted, logger }
  const service = createService({
    ...answering,
    store,
    limits: () => servedLimits?.now,
    lifecycle,
  })
  const grpc = settings.grpc === 'off' ? undefined : new GrpcServer(answering)
  try {
    const address = await listen(service, settings.host, settings.http)
    const grpcAddress = await grpc?.listen(settings.host, Number(settings.grpc), credentials)
    logger.info(
      { address, grpcAddress, config: settings.config, rules: rules.length, version: gate.version },
      'listening',
    )
    if (grpcAddress !== undefined) process.stderr.write(`tidegate: gRPC on ${grpcAddress}\n`)
    process.stderr.write(`tidegate: listening on ${address}\n`)
    logWarnings(settings.config, loaded, logger)
    hangup.tell(() => {
      reload({ file: settings.config, served, lifecycle, logger })
      servedLimits?.read()
    })
    logger.info({ signal: await signal }, 'draining')
    await drain(service, lifecycle, grpc)
    await gate.close()
    logger.info('drained')
    return 0
  } finally {
    // What is closed already stays closed; after an error nothing may keep the process.
    await Promise.all([service.close(), grpc?.close(0)])
    servedLimits?.close()
    await close()
  }
}

function complain(problems: readonly string[]): number {
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  return 1
}

function readLimits(settings: Settings): ReturnType<typeof loadLimits> | undefined {
  return settings.ratelimitConfig === '' ? undefined : loadLimits(settings.ratelimitConfig, loadOptions(settings))
}

function loadOptions({ ratelimitMergeDomains }: Settings): { mergeDomains: boolean } {
  return { mergeDomains: ratelimitMergeDomains }
}

function rateLimitingOf(settings: Settings, gate: Gate, store: Store, served: ServedLimits | undefined): RateLimiting {
  if (served === undefined) return ruleLimiting(gate)
  return configuredRateLimiting({
    store,
    limits: () => served.now,
    settings: {
      shadowMode: settings.ratelimitShadow,
      quotaMode: settings.ratelimitQuota,
      headers: settings.ratelimitHeaders ?? undefined,
      dynamicMetadata: settings.ratelimitMetadata,
      counting: settings.ratelimitCounting,
    },
  })
}

/** Resolves to the URL, with the port that was taken. */
async function listen(service: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    await service.listen({ host, port, listenTextResolver: (address) => `accepting connections on ${address}` })
  } catch (cause) {
    const message = `cannot listen on ${host}:${port}: ${unavailableReason(cause)}`
    throw new ServiceError('ERR_CANNOT_LISTEN', message, { cause })
  }
  const { address, family, port: taken } = service.server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`
}
