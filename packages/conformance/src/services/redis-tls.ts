import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { startRedis } from './redis.ts'
import { freePort, type Service, temporaryFolder } from './service.ts'

export interface TlsService extends Service {
  readonly tlsPort: number
  /** The certificate of the authority that signed the server's, PEM. */
  readonly authority: string
}

const STRONG = { keyType: 'ec', algorithm: 'sha256' } as const

/** A Redis that serves TLS at `tlsPort`, with a certificate for 127.0.0.1 and localhost made for this one test. */
export async function startRedisTls(): Promise<TlsService> {
  const tlsPort = await freePort()
  const authority = await generate([{ name: 'commonName', value: 'Tidegate test authority' }], {
    ...STRONG,
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  })
  const server = await generate([{ name: 'commonName', value: 'localhost' }], {
    ...STRONG,
    ca: { key: authority.private, cert: authority.cert },
  })
  const folder = await temporaryFolder('certificates')
  const files = { ca: authority.cert, cert: server.cert, key: server.private }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, `${name}.pem`), text)
  const options = ['--tls-port', String(tlsPort), '--tls-auth-clients', 'no']
  options.push('--tls-ca-cert-file', join(folder, 'ca.pem'), '--tls-cert-file', join(folder, 'cert.pem'))
  const service = await startRedis([...options, '--tls-key-file', join(folder, 'key.pem')])
  const stop = async (signal?: NodeJS.Signals) => {
    await service.stop(signal)
    await rm(folder, { recursive: true, force: true })
  }
  return { ...service, stop, tlsPort, authority: authority.cert }
}
