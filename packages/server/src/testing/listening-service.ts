import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { createGate, type Gate, memoryStore, type RuleOptions, type Store } from 'tidegate'
import { readTokens } from '../admin/tokens.ts'
import { ruleLimiting } from '../envoy/rule-limiting.ts'
import type { OnDenial } from '../events/denial.ts'
import { EventHub } from '../events/event-hub.ts'
import type { Lifecycle } from '../http/health-routes.ts'
import { createService } from '../http/service.ts'
import { limitObserver } from '../metrics/limit-counters.ts'
import { Metrics } from '../metrics/metrics.ts'
import { observedGate } from '../metrics/observed-gate.ts'
import type { StatsdCounters } from '../metrics/statsd-counters.ts'
import { readTrust } from '../settings/trust.ts'
import { limitingByText } from './limiting-by-text.ts'

export interface ListeningService {
  readonly url: string
  readonly port: number
  /** What has been logged, parsed. */
  readonly log: { level: number; msg: string }[]
  readonly lifecycle: Lifecycle
  readonly gate: Gate
  readonly events: EventHub
  post(path: string, body: unknown): Promise<Response>
  /** Each path that is served, with its methods in lower case; of `/auth`, which takes any, GET alone. */
  routes(): [path: string, methods: string[]][]
  /** How many connections are open. */
  connections(): Promise<number>
  close(): Promise<void>
}

interface Options {
  rules: RuleOptions[]
  /** A file of envoyproxy/ratelimit; without it the rules decide rate limit requests. */
  limits?: string
  store?: Store
  /** Counts what limits decide. */
  statsd?: StatsdCounters
  /** As --admin-tokens takes them. */
  tokens?: string
  trust?: string
  headers?: Record<string, string>
  denyStatus?: 401 | 403 | 429
  requestTimeoutMs?: number
  maxConcurrent?: number
}

/** A service on a real socket of loopback, with a clock that stands still at 1,700,000,000,000. */
export async function listeningService(options: Options): Promise<ListeningService> {
  const { rules, headers = {}, denyStatus = 429, trust = '' } = options
  const store = options.store ?? memoryStore({ clock: () => 1_700_000_000_000 })
  const log: ListeningService['log'] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) })
  const lifecycle: Lifecycle = { phase: 'serving' }
  const isTrusted = readTrust(trust)
  if (isTrusted === undefined) throw new Error(`no list of proxies: ${trust}`)
  const metrics = new Metrics()
  const events = new EventHub()
  const onDenial: OnDenial = (denial) => events.tell('denial', denial)
  const gate = observedGate(createGate({ rules, store }), metrics, onDenial)
  const tokens = readTokens(options.tokens ?? '')
  if (tokens === undefined) throw new Error(`no tokens: ${options.tokens}`)
  const byLimits =
    options.limits === undefined
      ? undefined
      : limitingByText(options.limits, store, {}, limitObserver(metrics, options.statsd, { onDenial }))
  const service = createService({
    gate,
    store,
    rateLimiting: byLimits?.rateLimiting ?? ruleLimiting(gate),
    limits: () => byLimits?.limits,
    isTrusted,
    tokens,
    events,
    metrics,
    forwardAuth: () => ({ headers, denyStatus }),
    logger,
    lifecycle,
    ...(options.maxConcurrent !== undefined && { maxConcurrent: options.maxConcurrent }),
    ...(options.requestTimeoutMs !== undefined && { requestTimeoutMs: options.requestTimeoutMs }),
  })
  await service.listen({ host: '127.0.0.1', port: 0 })
  const { port } = service.server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    port,
    log,
    lifecycle,
    gate,
    events,
    post: (path, body) => {
      const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: text as string }
      return fetch(`${url}${path}`, init)
    },
    routes: () => routesIn(service.printRoutes({ commonPrefix: false })),
    connections: () => promisify(service.server.getConnections.bind(service.server))(),
    close: () => service.close(),
  }
}

/** A tree of paths, each the end of those that it hangs from: `├── v1/limit (POST)`. */
function routesIn(tree: string): [string, string[]][] {
  const above: string[] = []
  return [...tree.matchAll(/^(.*)─ (\S+)(?: \(([^)]+)\))?$/gm)].flatMap(([, indent = '', end = '', methods]) => {
    const depth = Math.floor(indent.length / 4)
    const path = `${depth === 0 ? '' : above[depth - 1]}${end}`
    above[depth] = path
    if (methods === undefined) return []
    const all = methods.split(', ').filter((method) => method !== 'HEAD')
    return [[path, (all.length > 3 ? ['GET'] : all).map((method) => method.toLowerCase()).sort()]]
  })
}
