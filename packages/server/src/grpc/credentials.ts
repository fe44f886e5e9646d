import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ServiceError } from '../errors.ts'
import type { TlsMaterial } from '../rpc/rpc-server.ts'

/** The files of TLS, PEM. */
export interface TlsFiles {
  readonly certificate: string
  readonly key: string
  /** The authorities whose clients are served; without it, clients need no certificate. */
  readonly clientAuthority: string
}

/**
 * What the gRPC server is reached by: TLS with a certificate and its key, mutual with an authority of the clients; undefined
 * without TLS.
 * @throws ServiceError `ERR_INVALID_SETTING` where a file is missing, or is none of these
 */
export function readTls({ certificate, key: keyFile, clientAuthority }: TlsFiles): TlsMaterial | undefined {
  if (certificate === '' && keyFile === '' && clientAuthority === '') return undefined
  if (certificate === '') throw refusal('--grpc-tls-cert', 'a certificate beside the other files of TLS')
  if (keyFile === '') throw refusal('--grpc-tls-key', 'the key of the certificate')
  const [cert, key] = [readPem('--grpc-tls-cert', certificate), readPem('--grpc-tls-key', keyFile)]
  const material = {
    cert,
    key,
    ...(clientAuthority !== '' && { ca: readPem('--grpc-tls-client-ca', clientAuthority) }),
  }
  try {
    createSecureContext(material)
  } catch (cause) {
    const expected = 'a certificate and its key, as PEM'
    const message = `--grpc-tls-cert: expected ${expected}; ${(cause as Error).message}`
    throw new ServiceError('ERR_INVALID_SETTING', message, { field: '--grpc-tls-cert', expected, cause })
  }
  return material
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
