import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, type Service, startService, temporaryFolder } from './service.ts'

const MAIN = join(import.meta.dirname, '../../../server/dist/main.js')

/** The service itself, on loopback, with rules of the test's own, and other files that its flags name. */
export async function startTidegate(
  rules: string,
  flags: readonly string[] = [],
  files: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const port = await freePort()
  const folder = await temporaryFolder('service')
  for (const [name, text] of Object.entries({ ...files, 'rules.yaml': rules }))
    await writeFile(join(folder, name), text)
  const grpc = flags.includes('--grpc') ? [] : ['--grpc', 'off']
  const args = [MAIN, 'serve', '--config', 'rules.yaml', '--http', String(port), ...grpc, ...flags]
  const ready = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 200
  return startService(process.execPath, args, { port, folder }, ready)
}
