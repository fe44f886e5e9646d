import { readDuration } from './read-duration.ts'
import { readPort } from './read-port.ts'
import type { Setting } from './setting.ts'

/** The settings of the gRPC side. */
export const grpcSettings = {
  grpc: {
    flag: '--grpc',
    environment: 'TIDEGATE_GRPC',
    placeholder: 'PORT',
    default: '8081',
    doc: 'The port for the gRPC services of Envoy; 0 takes any free one, off serves HTTP alone.',
    expected: 'a port from 0 to 65535, or off',
    read: (text) => (text === 'off' ? text : readPort(text)),
  } satisfies Setting<number | 'off'>,
  grpcTlsCert: {
    flag: '--grpc-tls-cert',
    environment: 'TIDEGATE_GRPC_TLS_CERT',
    placeholder: 'FILE',
    default: '',
    defaultDoc: 'no TLS',
    doc: 'The certificate of the gRPC side, with those that lead to its authority; PEM.',
    expected: 'the name of a file',
    read: (text) => text,
  } satisfies Setting<string>,
  grpcTlsKey: {
    flag: '--grpc-tls-key',
    environment: 'TIDEGATE_GRPC_TLS_KEY',
    placeholder: 'FILE',
    default: '',
    defaultDoc: 'none',
    doc: 'The key of the certificate; PEM.',
    expected: 'the name of a file',
    read: (text) => text,
  } satisfies Setting<string>,
  grpcTlsClientCa: {
    flag: '--grpc-tls-client-ca',
    environment: 'TIDEGATE_GRPC_TLS_CLIENT_CA',
    placeholder: 'FILE',
    default: '',
    defaultDoc: 'clients need no certificate',
    doc: 'The authorities one of which must have signed the certificate of each gRPC client; PEM.',
    expected: 'the name of a file',
    read: (text) => text,
  } satisfies Setting<string>,
  grpcMaxConnectionAge: {
    flag: '--grpc-max-connection-age',
    environment: 'TIDEGATE_GRPC_MAX_CONNECTION_AGE',
    placeholder: 'DURATION',
    default: '24h',
    doc: 'After so long, a tenth more or less, the client of a gRPC connection is asked to open another; off for never.',
    expected: 'a duration from 1s to 366d, such as 30m, or off',
    read: readDuration,
  } satisfies Setting<number>,
  grpcMaxConnectionAgeGrace: {
    flag: '--grpc-max-connection-age-grace',
    environment: 'TIDEGATE_GRPC_MAX_CONNECTION_AGE_GRACE',
    placeholder: 'DURATION',
    default: '1h',
    doc: 'How long the calls on such a connection may then take to end; off for as long as they like.',
    expected: 'a duration from 1s to 366d, such as 30m, or off',
    read: readDuration,
  } satisfies Setting<number>,
} as const
