import { pino } from 'pino'
import { createGate, memoryStore, type RuleOptions, type Store } from 'tidegate'
import { ruleLimiting } from '../envoy/rule-limiting.ts'
import type { AnswerSettings } from '../envoy/settings.ts'
import { GrpcServer } from '../grpc/server.ts'
import { Metrics } from '../metrics/metrics.ts'
import type { ConnectionLimits } from '../rpc/connections.ts'
import type { TlsMaterial } from '../rpc/rpc-server.ts'
import { readTrust } from '../settings/trust.ts'
import { GrpcClient } from './grpc-client.ts'
import { limitingByText } from './limiting-by-text.ts'

export interface GrpcService {
  readonly client: GrpcClient
  readonly address: string
  readonly server: GrpcServer
  /** Milliseconds; tests set it. */
  readonly clock: { now: number }
  readonly logged: unknown[]
  close(): Promise<void>
}

interface Options {
  /** A file of envoyproxy/ratelimit; without it the rules decide. */
  config?: string
  settings?: Partial<AnswerSettings>
  rules?: RuleOptions[]
  store?: Store
  headers?: Record<string, string>
  denyStatus?: 401 | 403 | 429
  tls?: TlsMaterial
  maxConcurrent?: number
  connections?: ConnectionLimits
}

/** The gRPC side on a real port of loopback, with a clock that stands at 1,700,000,000,000 until a test moves it. */
export async function grpcService(options: Options): Promise<GrpcService> {
  const { rules = [{ name: 'unused', limit: 1, window: 1 }], headers = {}, denyStatus = 429 } = options
  const clock = { now: 1_700_000_000_000 }
  const store = options.store ?? memoryStore({ clock: () => clock.now })
  const gate = createGate({ rules, store })
  const logged: unknown[] = []
  const logger = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const rateLimiting =
    options.config === undefined
      ? ruleLimiting(gate)
      : limitingByText(options.config, store, options.settings).rateLimiting
  const isTrusted = readTrust('127.0.0.0/8') ?? (() => false)
  const server = new GrpcServer({
    gate,
    rateLimiting,
    forwardAuth: () => ({ headers, denyStatus }),
    isTrusted,
    logger,
    metrics: new Metrics(),
    tls: options.tls,
    ...(options.maxConcurrent !== undefined && { maxConcurrent: options.maxConcurrent }),
    ...(options.connections !== undefined && { connections: options.connections }),
  })
  const address = await server.listen('127.0.0.1', 0)
  const client = new GrpcClient(address)
  const close = async () => {
    client.close()
    await server.close(1000)
  }
  return { client, address, server, clock, logged, close }
}
