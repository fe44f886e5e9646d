import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { withoutPadding } from '../testing/markdown-table.ts'
import { settingsHelp, settingsMarkdown } from './describe-settings.ts'
import { readSettings } from './read-settings.ts'
import { exampleConfigFile, settings } from './settings.ts'

const flags = Object.values(settings)
  .map(({ flag }) => flag)
  .join(', ')
const variables = Object.values(settings)
  .map(({ environment }) => environment)
  .join(', ')

describe('settings', () => {
  test('have the defaults of their table', () => {
    const { trustProxy, adminTokens, ...others } = readSettings([], {})
    expect(others).toEqual({
      config: exampleConfigFile,
      redis: null,
      http: 8080,
      host: '127.0.0.1',
      maxConcurrent: 5000,
      grpc: 8081,
      grpcTlsCert: '',
      grpcTlsKey: '',
      grpcTlsClientCa: '',
      grpcMaxConnectionAge: 86_400_000,
      grpcMaxConnectionAgeGrace: 3_600_000,
      ratelimitConfig: '',
      ratelimitMergeDomains: false,
      ratelimitCounting: 'together',
      ratelimitShadow: false,
      ratelimitQuota: false,
      ratelimitHeaders: null,
      ratelimitMetadata: false,
      logDenials: 0,
      statsd: null,
      workers: 1,
      logLevel: 'info',
    })
    expect(trustProxy('127.0.0.1')).toBe(false)
    expect(adminTokens.isEmpty).toBe(true)
  })

  test('are read from flags, before the environment', () => {
    const environment = { TIDEGATE_HTTP: '1', TIDEGATE_LOG_LEVEL: 'warn', TIDEGATE_HOST: '' }
    const read = readSettings(['--http=0', '--redis', 'redis://:p%40ss@h:6379/1', '--config', 'r.yaml'], environment)
    expect(read).toMatchObject({
      http: 0,
      redis: 'redis://:p%40ss@h:6379/1',
      config: 'r.yaml',
      logLevel: 'warn',
      host: '127.0.0.1',
    })
  })

  test('--trust-proxy takes addresses and ranges, whatever the spelling of the peer', () => {
    const { trustProxy } = readSettings(['--trust-proxy', '127.0.0.1, 10.0.0.0/8,fd00::/8'], {})
    const peers = [
      '127.0.0.1',
      '::ffff:127.0.0.1',
      '10.9.8.7',
      '10.9.8.7:5555',
      'fd00::1',
      '127.0.0.2',
      '11.0.0.1',
      '::1',
      'x',
      '',
    ]
    expect(peers.filter(trustProxy)).toEqual(['127.0.0.1', '::ffff:127.0.0.1', '10.9.8.7', '10.9.8.7:5555', 'fd00::1'])
  })

  const named: [name: string, inside: string[], outside: string[]][] = [
    ['loopback', ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'], ['128.0.0.1', '::2']],
    ['linklocal', ['169.254.1.1', 'fe80::1'], ['169.255.0.1', 'fec0::1']],
    [
      'uniquelocal',
      ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.9.9', 'fc00::1', 'fd12::1'],
      ['172.32.0.1', '192.169.0.1', '127.0.0.1', 'fe80::1'],
    ],
  ]
  test.each(named)('--trust-proxy %s takes its ranges and no other', (name, inside, outside) => {
    const { trustProxy } = readSettings(['--trust-proxy', name], {})
    expect([...inside, ...outside].filter(trustProxy)).toEqual(inside)
  })

  const wrong: [string[], NodeJS.ProcessEnv, string][] = [
    [['--port', '1'], {}, `--port: expected one of ${flags}; there is no such flag`],
    [['-p'], {}, `-p: expected one of ${flags}; there is no such flag`],
    [['rules.yaml'], {}, 'rules.yaml: expected flags only; this is none'],
    [['--http', '1', '--http', '2'], {}, '--http: expected the flag once; it stands there twice'],
    [['--http'], {}, '--http: expected a port from 0 to 65535; received nothing'],
    [['--http='], {}, '--http: expected a port from 0 to 65535; received ""'],
    [['--http', '65536'], {}, '--http: expected a port from 0 to 65535; received "65536"'],
    [['--http', '1e3'], {}, '--http: expected a port from 0 to 65535; received "1e3"'],
    [[], { TIDEGATE_HTTP: 'x' }, 'TIDEGATE_HTTP: expected a port from 0 to 65535; received "x"'],
    [['--host', 'a b'], {}, '--host: expected an address or a host name; received "a b"'],
    [
      ['--log-level', 'loud'],
      {},
      '--log-level: expected one of fatal, error, warn, info, debug, trace, silent; received "loud"',
    ],
    ...[
      'localhost:6379',
      'http://h',
      'redis://',
      'redis://h/x',
      'redis://h?enableOfflineQueue=true',
      'redis://%zz@h',
    ].map((url): [string[], NodeJS.ProcessEnv, string] => [
      ['--redis', url],
      {},
      `--redis: expected a URL such as redis://user:password@host:6379/0; received ${JSON.stringify(url)}`,
    ]),
    ...[
      'proxy',
      'Loopback',
      '10.0.0.0/33',
      'fd00::/129',
      '10.0.0.0/',
      '10.0.0.0/08',
      '10.0.0.0/255.0.0.0',
      '010.0.0.1',
      '1',
      '::1%lo',
      '[::1]',
      '10.0.0.1:80',
      '10.0.0.1,',
      '*',
    ].map((list): [string[], NodeJS.ProcessEnv, string] => [
      ['--trust-proxy', list],
      {},
      `--trust-proxy: expected addresses or CIDR ranges with commas between, such as 127.0.0.1,10.0.0.0/8; received "${list}"`,
    ]),
    ...['0.0.0.0/0', '::/0', '10.0.0.1,::/0'].map((list): [string[], NodeJS.ProcessEnv, string] => [
      ['--trust-proxy', list],
      {},
      `--trust-proxy: expected addresses or CIDR ranges with commas between, such as 127.0.0.1,10.0.0.0/8; received "${list}": whoever believes everybody lets each client choose its address`,
    ]),
    ...['TIDEGATE_PORT', 'TIDEGATE_LOGLEVEL', 'TIDEGATE_'].map((name): [string[], NodeJS.ProcessEnv, string] => [
      [],
      { [name]: '8081' },
      `${name}: expected one of ${variables}; there is no such variable`,
    ]),
  ]
  test('a token that is wrong is not repeated', () => {
    expect(() => readSettings(['--admin-tokens', 'read:secret'], {})).toThrow(/; received another$/)
  })

  test('variables that are none of its own are left alone', () => {
    const environment = {
      TIDEGATE_REQUIRE_PARTS: '1',
      TIDEGATE_TYPO: '',
      TIDEGATE_PORT: 'tcp://10.0.0.1:8080',
      TIDEGATE_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
      TIDEGATE_PORT_8080_TCP_ADDR: '10.0.0.1',
      TIDEGATE_SERVICE_HOST: '10.0.0.1',
      TIDEGATE_SERVICE_PORT_HTTP: '8080',
      TIDEGATE_REDIS_PORT: 'tcp://10.0.0.2:6379',
      OTHER: 'x',
    }
    expect(readSettings([], environment)).toMatchObject({ http: 8080, redis: null })
  })

  test.each(wrong)('%j %j is refused', (args, environment, message) => {
    expect(() => readSettings(args, environment)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_SETTING', message }),
    )
  })

  test('are each in the help and in the reference, as their table has them', () => {
    const reference = readFileSync(new URL('../../../../docs/reference/service.md', import.meta.url), 'utf8')
    expect(withoutPadding(reference)).toContain(withoutPadding(settingsMarkdown()))
    for (const { flag, environment, doc } of Object.values(settings)) {
      expect(settingsHelp()).toContain(`${flag} `)
      expect(settingsHelp()).toContain(environment)
      expect(settingsHelp()).toContain(doc)
    }
  })
})
