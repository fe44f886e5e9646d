import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { guideFile, withPorts } from './guide.ts'
import { findPart } from './parts.ts'
import { freePorts, type Service, startService, temporaryFolder } from './service.ts'

export interface EnvoyService extends Service {
  /** Where ext_authz is asked; the rate limit service is at `port`. */
  readonly authorizedPort: number
  /** A counter of Envoy, by the end of its name; 0 where it has not counted yet. */
  counter(ending: string): Promise<number>
}

/** A real Envoy with the configuration of the guide: its ports moved, and `edit` applied. */
export async function startEnvoy(
  tidegatePort: number,
  applicationPort: number,
  edit: (text: string) => string = (text) => text,
): Promise<EnvoyService> {
  const binary = findPart('envoy')
  if (binary === undefined) throw new Error('envoy is not installed')
  const [port = 0, authorizedPort = 0, admin = 0] = await freePorts(3)
  const folder = await temporaryFolder('envoy')
  const ports = { 10000: port, 10001: authorizedPort, 9901: admin, 8081: tidegatePort, 8082: applicationPort }
  const file = join(folder, 'envoy.yaml')
  await writeFile(file, edit(withPorts(guideFile('envoy.md', 'envoy.yaml'), ports)))
  const args = ['-c', file, '--concurrency', '1', '--log-level', 'warn', '--disable-hot-restart']
  const ready = async () => (await fetch(`http://127.0.0.1:${admin}/ready`)).status === 200
  const service = await startService(binary, args, { port, folder }, ready)
  const counter = async (ending: string) => {
    const text = await (await fetch(`http://127.0.0.1:${admin}/stats?usedonly`)).text()
    const line = text.split('\n').find((one) => one.includes(`${ending}: `))
    return Number(line?.split(': ')[1] ?? 0)
  }
  return { ...service, authorizedPort, counter }
}
