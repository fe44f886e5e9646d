import cluster from 'node:cluster'
import { pino } from 'pino'
import { createGate } from 'tidegate'
import { loadConfig } from '../config/load-config.ts'
import { formatProblem } from '../config/problem.ts'
import { ServiceError } from '../errors.ts'
import type { OnDenial } from '../events/denial.ts'
import { denialLog } from '../events/denial-log.ts'
import { EventHub } from '../events/event-hub.ts'
import type { Lifecycle } from '../http/health-routes.ts'
import { createService } from '../http/service.ts'
import { measureHealth } from '../metrics/health-gauges.ts'
import { measureMemory } from '../metrics/memory-gauges.ts'
import { Metrics } from '../metrics/metrics.ts'
import { observedGate } from '../metrics/observed-gate.ts'
import { StatsdCounters } from '../metrics/statsd-counters.ts'
import { watchStore } from '../metrics/store-watcher.ts'
import { readSettings } from '../settings/read-settings.ts'
import type { Settings } from '../settings/settings.ts'
import { openStore } from '../store/open-store.ts'
import { alone } from '../workers/alone.ts'
import { onHangup } from './hangup.ts'
import { logLastWords } from './last-words.ts'
import { logWarnings, reload, type Served } from './reload.ts'
import { rateLimitingOf, readLimits, serveLimits } from './serve-limits.ts'
import { drain, shutdownSignal } from './shutdown.ts'
import { warmUp } from './warm-up.ts'

/** Serves until a signal ends it. Logs go to stdout as JSON, words for people to stderr. */
export async function serve(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const settings = readSettings(args, environment)
  const loaded = loadConfig(settings.config)
  if ('problems' in loaded) return complain(loaded.problems.map((problem) => formatProblem(settings.config, problem)))
  const limits = readLimits(settings)
  if (limits !== undefined && 'problems' in limits) return complain(limits.problems)
  ensureShared(settings)
  // Loaded where it is served: HTTP alone starts sooner.
  const grpcSide = settings.grpc === 'off' ? undefined : (await import('./serve-grpc.ts')).grpcSide(settings)
  const { rules, ...forwardAuth } = loaded.config
  const logger = pino({ name: 'tidegate', level: settings.logLevel })
  const isOneOfSeveral = settings.workers > 1
  if (isOneOfSeveral && cluster.isPrimary) {
    return (await import('../workers/primary.ts')).serveByWorkers(settings, logger)
  }
  const signal = shutdownSignal()
  const hangup = onHangup()
  const lifecycle: Lifecycle = { phase: 'serving' }
  const metrics = new Metrics()
  const statsd = settings.statsd === null ? undefined : new StatsdCounters(settings.statsd)
  const fleet = isOneOfSeveral
    ? (await import('../workers/worker.ts')).worker(metrics.registry)
    : alone(metrics.registry)
  const events = new EventHub()
  events.shareWith(fleet.shareEvent)
  fleet.onEvent((event) => events.take(event))
  const logDenial = denialLog(logger, settings.logDenials)
  const onDenial: OnDenial = (denial) => {
    logDenial(denial)
    events.tell('denial', denial)
  }
  logLastWords(logger)
  const { store, close } = await openStore(settings.redis, logger, loaded.config.store, watchStore(metrics, events))
  const served: Served = { gate: observedGate(createGate({ rules, store }), metrics, onDenial), forwardAuth }
  const { gate } = served
  measureMemory(store, metrics)
  measureHealth(store, metrics)
  const shared = await fleet.rules()
  if (shared !== undefined) gate.update(shared)
  metrics.serves('rules', gate.version)
  fleet.onRules((put) => {
    gate.update(put)
    metrics.serves('rules', gate.version)
  })
  const observers = { logger, metrics, statsd, events, onDenial }
  const servedLimits = limits && serveLimits(settings, limits.limits, observers)
  const rateLimiting = rateLimitingOf(settings, gate, store, servedLimits, observers)
  const isTrusted = settings.trustProxy
  const answering = { gate, rateLimiting, forwardAuth: () => served.forwardAuth, isTrusted, logger, metrics }
  const service = createService({
    ...answering,
    store,
    tokens: settings.adminTokens,
    limits: () => servedLimits?.now,
    lifecycle,
    maxConcurrent: settings.maxConcurrent,
    events,
    fleet,
  })
  const grpc = grpcSide?.create(answering)
  await warmUp(rules)
  try {
    const address = await fleet.listen(service, settings.host, settings.http)
    const grpcAddress = grpc && (await grpcSide?.listen(grpc))
    logger.info(
      { address, grpcAddress, config: settings.config, rules: rules.length, version: gate.version },
      'listening',
    )
    fleet.listens({ http: address, grpc: grpcAddress })
    logWarnings(settings.config, loaded, logger)
    const readAgain = (): void => {
      const result = reload({ file: settings.config, served, lifecycle, logger })
      metrics.reloads.inc({ source: 'rules', result })
      events.tell('config', () => ({ source: 'rules', result, version: gate.version }))
      metrics.serves('rules', gate.version)
      servedLimits?.read()
    }
    hangup.tell(readAgain)
    fleet.onReload(readAgain)
    logger.info({ signal: await Promise.race([signal, fleet.ended]) }, 'draining')
    await drain(service, lifecycle, fleet, grpc)
    await gate.close()
    logger.info('drained')
    return 0
  } finally {
    // What is closed already stays closed; after an error nothing may keep the process.
    await Promise.all([service.close(), grpc?.close(0)])
    servedLimits?.close()
    await statsd?.close()
    await close()
    fleet.leave()
  }
}

/** @throws ServiceError `ERR_INVALID_SETTING` where several processes would each count apart */
function ensureShared({ workers, redis }: Settings): void {
  if (workers === 1 || redis !== null) return
  const expected = '--redis as well: each worker would count in its own memory'
  const message = `--workers: expected ${expected}, and ${workers} of them would admit up to ${workers} times each limit`
  throw new ServiceError('ERR_INVALID_SETTING', message, { field: '--workers', expected })
}

function complain(problems: readonly string[]): number {
  for (const problem of problems) process.stderr.write(`${problem}\n`)
  return 1
}
