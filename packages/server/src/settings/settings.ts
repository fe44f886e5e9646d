import { fileURLToPath } from 'node:url'
import { adminSettings } from './admin-settings.ts'
import { grpcSettings } from './grpc-settings.ts'
import { type LogLevel, readLogLevel } from './log-level.ts'
import { rateLimitSettings } from './ratelimit-settings.ts'
import { readCount } from './read-count.ts'
import { readPort } from './read-port.ts'
import { readRedisUrl } from './redis-url.ts'
import type { Setting } from './setting.ts'
import { readTrust, type Trust } from './trust.ts'

/** The rules that are served where no file is named; shipped with this package. */
export const exampleConfigFile: string = fileURLToPath(new URL('../../config/example.yaml', import.meta.url))

/** The table that flags, environment, defaults, help and docs/reference/service.md come from. */
export const settings = {
  config: {
    flag: '--config',
    environment: 'TIDEGATE_CONFIG',
    placeholder: 'FILE',
    default: exampleConfigFile,
    defaultDoc: 'the example rules of this package',
    doc: 'The rules, as YAML or JSON.',
    expected: 'the name of a file',
    read: (text) => text,
  } satisfies Setting<string>,
  redis: {
    flag: '--redis',
    environment: 'TIDEGATE_REDIS',
    placeholder: 'URL',
    default: '',
    defaultDoc: 'counts are kept in memory',
    doc: 'Where counts are shared: redis://[user:password@]host[:port][/database], or rediss:// for TLS.',
    expected: 'a URL such as redis://user:password@host:6379/0',
    read: readRedisUrl,
  } satisfies Setting<string | null>,
  http: {
    flag: '--http',
    environment: 'TIDEGATE_HTTP',
    placeholder: 'PORT',
    default: '8080',
    doc: 'The port to listen on; 0 takes any free one, which is logged and printed.',
    expected: 'a port from 0 to 65535',
    read: readPort,
  } satisfies Setting<number>,
  host: {
    flag: '--host',
    environment: 'TIDEGATE_HOST',
    placeholder: 'ADDRESS',
    default: '127.0.0.1',
    doc: 'The address to listen on; 0.0.0.0 or :: for all.',
    expected: 'an address or a host name',
    read: (text) => (/^[A-Za-z0-9.:_-]+$/.test(text) ? text : undefined),
  } satisfies Setting<string>,
  workers: {
    flag: '--workers',
    environment: 'TIDEGATE_WORKERS',
    placeholder: 'COUNT',
    default: '1',
    doc: 'How many processes serve on the same ports, with one view of /metrics; more than one need --redis. One for each core is usual.',
    expected: 'a whole number from 1 to 128',
    read: (text) => {
      const count = readCount(text)
      return count !== undefined && count <= 128 ? count : undefined
    },
  } satisfies Setting<number>,
  maxConcurrent: {
    flag: '--max-concurrent',
    environment: 'TIDEGATE_MAX_CONCURRENT',
    placeholder: 'COUNT',
    default: '5000',
    doc: 'How many HTTP requests, and how many gRPC calls, can be under way at a time; more are answered 503, and UNAVAILABLE, at once.',
    expected: 'a whole number from 1 to 1000000',
    read: readCount,
  } satisfies Setting<number>,
  trustProxy: {
    flag: '--trust-proxy',
    environment: 'TIDEGATE_TRUST_PROXY',
    placeholder: 'LIST',
    default: '',
    defaultDoc: 'none',
    doc: 'The gateways whose X-Forwarded-… and X-Original-… headers are believed: addresses, CIDR ranges, loopback, linklocal, uniquelocal, with commas between.',
    expected: 'addresses or CIDR ranges with commas between, such as 127.0.0.1,10.0.0.0/8',
    reason: (text) =>
      /\/0+\b/.test(text) ? 'whoever believes everybody lets each client choose its address' : undefined,
    read: readTrust,
  } satisfies Setting<Trust>,
  ...grpcSettings,
  ...rateLimitSettings,
  ...adminSettings,
  logLevel: {
    flag: '--log-level',
    environment: 'TIDEGATE_LOG_LEVEL',
    placeholder: 'LEVEL',
    default: 'info',
    doc: 'What is logged: fatal, error, warn, info, debug, trace or silent.',
    expected: 'one of fatal, error, warn, info, debug, trace, silent',
    read: readLogLevel,
  } satisfies Setting<LogLevel>,
} as const

export type SettingName = keyof typeof settings

/** The values of all settings. */
export type Settings = {
  readonly [Name in SettingName]: Exclude<ReturnType<(typeof settings)[Name]['read']>, undefined>
}
