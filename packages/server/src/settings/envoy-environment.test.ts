import { expect, test } from 'vitest'
import { readSettings } from './read-settings.ts'

const folder = { RUNTIME_ROOT: '/data', RUNTIME_SUBDIRECTORY: 'ratelimit' }

test('the names of envoyproxy/ratelimit, with its defaults for host and log', () => {
  const settings = readSettings([], {
    ...folder,
    PORT: '9080',
    GRPC_PORT: '9081',
    REDIS_URL: 'redis.example:6379',
    REDIS_AUTH: 'p@ss:word',
    SHADOW_MODE: 'TRUE',
    QUOTA_MODE: '0',
    LIMIT_RESPONSE_HEADERS_ENABLED: '1',
    LIMIT_RESET_HEADER: 'X-Reset',
    RESPONSE_DYNAMIC_METADATA: 't',
    MERGE_DOMAIN_CONFIG: 'true',
  })
  expect(settings).toMatchObject({
    ratelimitConfig: '/data/ratelimit/config',
    host: '0.0.0.0',
    http: 9080,
    grpc: 9081,
    redis: 'redis://p%40ss:word@redis.example:6379',
    ratelimitShadow: true,
    ratelimitQuota: false,
    ratelimitHeaders: { limit: 'RateLimit-Limit', remaining: 'RateLimit-Remaining', reset: 'X-Reset' },
    ratelimitMetadata: true,
    ratelimitMergeDomains: true,
    logLevel: 'warn',
  })
})

test('a password alone, TLS, and files of TLS', () => {
  const files = { GRPC_SERVER_TLS_CERT: '/c.pem', GRPC_SERVER_TLS_KEY: '/k.pem', GRPC_CLIENT_TLS_CACERT: '/a.pem' }
  const more = { REDIS_URL: 'r:1', REDIS_AUTH: 'secret', REDIS_TLS: 'true', GRPC_SERVER_USE_TLS: 'true', ...files }
  const settings = readSettings([], { ...folder, ...more, RUNTIME_APPDIRECTORY: 'other', LOG_LEVEL: 'WARNING' })
  expect(settings).toMatchObject({ redis: 'rediss://:secret@r:1', logLevel: 'warn' })
  expect(settings).toMatchObject({ grpcTlsCert: '/c.pem', grpcTlsKey: '/k.pem', grpcTlsClientCa: '/a.pem' })
  expect(readSettings([], { ...folder, ...files })).toMatchObject({
    grpcTlsCert: '',
    grpcTlsKey: '',
    grpcTlsClientCa: '',
  })
  expect(settings.ratelimitConfig).toBe('/data/ratelimit/other')
})

test('how long connections stay, with the defaults that are the same there', () => {
  const settings = readSettings([], {
    ...folder,
    GRPC_MAX_CONNECTION_AGE: '1h30m',
    GRPC_MAX_CONNECTION_AGE_GRACE: '10s',
  })
  expect(settings).toMatchObject({ grpcMaxConnectionAge: 5_400_000, grpcMaxConnectionAgeGrace: 10_000 })
  expect(readSettings([], folder)).toMatchObject({
    grpcMaxConnectionAge: 86_400_000,
    grpcMaxConnectionAgeGrace: 3_600_000,
  })
  const never = readSettings([], { TIDEGATE_GRPC_MAX_CONNECTION_AGE: 'off' })
  expect(never.grpcMaxConnectionAge).toBe(Number.POSITIVE_INFINITY)
})

test.each([
  [{ GRPC_MAX_CONNECTION_AGE: '1w' }, 'GRPC_MAX_CONNECTION_AGE: expected a duration from 1s to 366d'],
  [{ GRPC_MAX_CONNECTION_AGE: '0s' }, 'GRPC_MAX_CONNECTION_AGE: expected a duration from 1s to 366d'],
  [{ GRPC_SERVER_USE_TLS: 'true' }, 'GRPC_SERVER_TLS_CERT: expected the name of a file, because GRPC_SERVER_USE_TLS'],
  [
    { GRPC_SERVER_USE_TLS: '1', GRPC_SERVER_TLS_CERT: '/c.pem' },
    'GRPC_SERVER_TLS_KEY: expected the name of a file, because GRPC_SERVER_USE_TLS is true',
  ],
  [{ GRPC_SERVER_USE_TLS: 'true', GRPC_CLIENT_TLS_SAN: 'envoy' }, 'GRPC_CLIENT_TLS_SAN: expected none'],
])('%j is refused', (more, message) => {
  expect(() => readSettings([], { ...folder, ...more })).toThrow(message)
})

test('flags and variables of ours go before', () => {
  const settings = readSettings(['--http', '1'], { ...folder, PORT: '2', GRPC_PORT: '3', TIDEGATE_GRPC: '4' })
  expect(settings).toMatchObject({ http: 1, grpc: 4 })
})

test('where no folder is named these names are not ours', () => {
  const settings = readSettings([], { PORT: '2', HOST: 'h', REDIS_URL: 'r:1', SHADOW_MODE: 'true' })
  expect(settings).toMatchObject({ http: 8080, host: '127.0.0.1', redis: null, ratelimitShadow: false })
})

test.each([
  [{ PORT: 'x' }, 'PORT: expected a port from 0 to 65535; received "x"'],
  [{ SHADOW_MODE: 'maybe' }, 'SHADOW_MODE: expected true or false; received "maybe"'],
  [
    { REDIS_URL: 'a:1', REDIS_TYPE: 'cluster' },
    'REDIS_URL: expected a URL such as redis://user:password@host:6379/0; received "cluster:a:1"',
  ],
])('an error names the variable that is there: %o', (more, message) => {
  expect(() => readSettings([], { ...folder, ...more })).toThrow(message)
})
