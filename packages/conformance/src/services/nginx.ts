import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findPart } from './parts.ts'
import { freePort, type Service, startService, temporaryFolder } from './service.ts'

const EXAMPLE = join(import.meta.dirname, '../../../../examples/nginx/nginx.conf')

/** A real nginx with the example's configuration: its ports moved, and `edit` applied. */
export async function startNginx(
  tidegatePort: number,
  edit: (conf: string) => string = (conf) => conf,
): Promise<Service> {
  const binary = findPart('nginx')
  if (binary === undefined) throw new Error('nginx is not installed')
  const [port, applicationPort] = [await freePort(), await freePort()]
  const folder = await temporaryFolder('nginx')
  const conf = (await readFile(EXAMPLE, 'utf8'))
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:8081', `127.0.0.1:${tidegatePort}`)
    .replaceAll('127.0.0.1:8082', `127.0.0.1:${applicationPort}`)
  await writeFile(join(folder, 'nginx.conf'), edit(conf))
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr', '-g', 'daemon off;']
  const ready = async () => (await fetch(`http://127.0.0.1:${applicationPort}/`)).status === 200
  return startService(binary, args, { port, folder }, ready)
}
