import { join } from 'node:path'
import { ServiceError } from '../errors.ts'

/** An environment in our names, and for each the name of envoyproxy/ratelimit that it was taken from. */
export interface TranslatedEnvironment {
  readonly environment: NodeJS.ProcessEnv
  readonly origins: ReadonlyMap<string, string>
}

/** Names that mean what one of ours does, and how their value is written in ours. */
const NAMES: Readonly<Record<string, { readonly ours: string; readonly write?: (text: string) => string }>> = {
  HOST: { ours: 'TIDEGATE_HOST' },
  PORT: { ours: 'TIDEGATE_HTTP' },
  GRPC_PORT: { ours: 'TIDEGATE_GRPC' },
  GRPC_MAX_CONNECTION_AGE: { ours: 'TIDEGATE_GRPC_MAX_CONNECTION_AGE' },
  GRPC_MAX_CONNECTION_AGE_GRACE: { ours: 'TIDEGATE_GRPC_MAX_CONNECTION_AGE_GRACE' },
  LOG_LEVEL: { ours: 'TIDEGATE_LOG_LEVEL', write: logLevel },
  SHADOW_MODE: { ours: 'TIDEGATE_RATELIMIT_SHADOW', write: boolean },
  QUOTA_MODE: { ours: 'TIDEGATE_RATELIMIT_QUOTA', write: boolean },
  RESPONSE_DYNAMIC_METADATA: { ours: 'TIDEGATE_RATELIMIT_METADATA', write: boolean },
  MERGE_DOMAIN_CONFIG: { ours: 'TIDEGATE_RATELIMIT_MERGE_DOMAINS', write: boolean },
}

/** The files of TLS, which are used where GRPC_SERVER_USE_TLS is true. */
const TLS_NAMES = {
  GRPC_SERVER_TLS_CERT: 'TIDEGATE_GRPC_TLS_CERT',
  GRPC_SERVER_TLS_KEY: 'TIDEGATE_GRPC_TLS_KEY',
  GRPC_CLIENT_TLS_CACERT: 'TIDEGATE_GRPC_TLS_CLIENT_CA',
} as const

/** Their defaults, where ours are others. */
const DEFAULTS = { TIDEGATE_HOST: '0.0.0.0', TIDEGATE_LOG_LEVEL: 'warn' }

/**
 * An environment made for envoyproxy/ratelimit, which names the folder of its configuration with RUNTIME_ROOT and
 * RUNTIME_SUBDIRECTORY, in our names; any other is left as it is, because names such as PORT are everybody's. A variable
 * of ours goes before one of theirs.
 * @throws ServiceError `ERR_INVALID_SETTING` where it asks for a protection that it does not complete, or that there is not
 */
export function translateEnvironment(environment: NodeJS.ProcessEnv): TranslatedEnvironment {
  const { RUNTIME_ROOT: root, RUNTIME_SUBDIRECTORY: subdirectory } = environment
  if (!root && !subdirectory) return { environment, origins: new Map() }
  const translated: NodeJS.ProcessEnv = { ...DEFAULTS }
  const origins = new Map<string, string>()
  const take = (ours: string, value: string | undefined, theirs: string): void => {
    if (!value) return
    translated[ours] = value
    origins.set(ours, theirs)
  }
  const folder = join(root || '/srv/runtime_data/current', subdirectory ?? '', appDirectory(environment))
  take('TIDEGATE_RATELIMIT_CONFIG', folder, root ? 'RUNTIME_ROOT' : 'RUNTIME_SUBDIRECTORY')
  for (const [theirs, { ours, write = (text: string) => text }] of Object.entries(NAMES)) {
    const value = environment[theirs]
    if (value) take(ours, write(value), theirs)
  }
  if (usesTls(environment)) {
    for (const [theirs, ours] of Object.entries(TLS_NAMES)) take(ours, environment[theirs], theirs)
  }
  take('TIDEGATE_STATSD', statsdAddress(environment), 'USE_STATSD')
  take('TIDEGATE_REDIS', redisUrl(environment), 'REDIS_URL')
  take('TIDEGATE_RATELIMIT_HEADERS', headerNames(environment), 'LIMIT_RESPONSE_HEADERS_ENABLED')
  for (const [name, value] of Object.entries(environment)) {
    if (!value) continue
    translated[name] = value
    origins.delete(name)
  }
  return { environment: translated, origins }
}

/** What is asked for and cannot be had is refused: a service without it would look as if it were protected. */
function usesTls(environment: NodeJS.ProcessEnv): boolean {
  const { GRPC_SERVER_USE_TLS: use = '', GRPC_CLIENT_TLS_SAN: san } = environment
  if (boolean(use) !== 'true') return false
  if (san) throw refusal('GRPC_CLIENT_TLS_SAN', 'none: every client of the authority is served')
  for (const name of ['GRPC_SERVER_TLS_CERT', 'GRPC_SERVER_TLS_KEY']) {
    if (!environment[name]) throw refusal(name, 'the name of a file, because GRPC_SERVER_USE_TLS is true')
  }
  return true
}

function refusal(field: string, expected: string): ServiceError {
  return new ServiceError('ERR_INVALID_SETTING', `${field}: expected ${expected}`, { field, expected })
}

function appDirectory({ RUNTIME_APPDIRECTORY: folder }: NodeJS.ProcessEnv): string {
  return folder || 'config'
}

/** As Go reads it. */
function boolean(text: string): string {
  if (/^(?:1|t|true)$/i.test(text)) return 'true'
  return /^(?:0|f|false)$/i.test(text) ? 'false' : text
}

function logLevel(text: string): string {
  const level = text.toLowerCase()
  return { warning: 'warn', panic: 'fatal' }[level] ?? level
}

/** `host:port` with what else there is of it. REDIS_TYPE other than SINGLE, and sockets, are left to be refused as no URL. */
function redisUrl(environment: NodeJS.ProcessEnv): string | undefined {
  const { REDIS_URL: address, REDIS_AUTH: secret, REDIS_TLS: tls = '', REDIS_TYPE: type = 'SINGLE' } = environment
  if (!address) return undefined
  if (type.toUpperCase() !== 'SINGLE') return `${type}:${address}`
  if (/^rediss?:\/\//.test(address)) return address
  const scheme = boolean(tls) === 'true' ? 'rediss' : 'redis'
  return `${scheme}://${credentialsOf(secret)}${address}`
}

/** `password`, or `user:password`. */
function credentialsOf(secret: string | undefined): string {
  if (!secret) return ''
  const at = secret.indexOf(':')
  const [user, password] = at < 0 ? ['', secret] : [secret.slice(0, at), secret.slice(at + 1)]
  return `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
}

/** There statsd is on by default; here only where it is asked for, so that nothing is sent to where nobody listens. */
function statsdAddress({ USE_STATSD: use = '', STATSD_HOST: host, STATSD_PORT: port }: NodeJS.ProcessEnv) {
  return boolean(use) === 'true' ? `${host || 'localhost'}:${port || '8125'}` : undefined
}

function headerNames(environment: NodeJS.ProcessEnv): string | undefined {
  if (boolean(environment['LIMIT_RESPONSE_HEADERS_ENABLED'] ?? '') !== 'true') return undefined
  const { LIMIT_LIMIT_HEADER: limit, LIMIT_REMAINING_HEADER: remaining, LIMIT_RESET_HEADER: reset } = environment
  return [limit || 'RateLimit-Limit', remaining || 'RateLimit-Remaining', reset || 'RateLimit-Reset'].join(',')
}
