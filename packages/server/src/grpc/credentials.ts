import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ServerCredentials } from '@grpc/grpc-js'
import { ServiceError } from '../errors.ts'

/** The files of TLS, PEM. */
export interface TlsFiles {
  readonly certificate: string
  readonly key: string
  /** The authorities whose clients are served; without it, clients need no certificate. */
  readonly clientAuthority: string
}

/**
 * What the gRPC server is reached by: TLS with a certificate and its key, mutual with an authority of the clients.
 * @throws ServiceError `ERR_INVALID_SETTING` where a file is missing, or is none of these
 */
export function serverCredentials({ certificate, key, clientAuthority }: TlsFiles): ServerCredentials {
  if (certificate === '' && key === '' && clientAuthority === '') return ServerCredentials.createInsecure()
  if (certificate === '') throw refusal('--grpc-tls-cert', 'a certificate beside the other files of TLS')
  if (key === '') throw refusal('--grpc-tls-key', 'the key of the certificate')
  const [cert, privateKey] = [readPem('--grpc-tls-cert', certificate), readPem('--grpc-tls-key', key)]
  const authority = clientAuthority === '' ? null : readPem('--grpc-tls-client-ca', clientAuthority)
  try {
    createSecureContext({ cert, key: privateKey, ...(authority !== null && { ca: authority }) })
  } catch (cause) {
    const expected = 'a certificate and its key, as PEM'
    throw new ServiceError(
      'ERR_INVALID_SETTING',
      `--grpc-tls-cert: expected ${expected}; ${(cause as Error).message}`,
      {
        field: '--grpc-tls-cert',
        expected,
        cause,
      },
    )
  }
  return ServerCredentials.createSsl(authority, [{ cert_chain: cert, private_key: privateKey }], authority !== null)
}

function readPem(flag: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw refusal(flag, 'the name of a file that can be read', `${file}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

function refusal(flag: string, expected: string, found = 'received nothing'): ServiceError {
  return new ServiceError('ERR_INVALID_SETTING', `${flag}: expected ${expected}; ${found}`, { field: flag, expected })
}
