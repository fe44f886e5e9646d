import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { guideFile, withPorts } from './guide.ts'
import { findPart, type Part } from './parts.ts'
import { freePort, type Service, startService, temporaryFolder } from './service.ts'

/** A gateway as its guide sets it up. */
export interface Gateway {
  readonly part: Part
  readonly guide: string
  /** The files that the guide shows, the one that it is started with first. */
  readonly files: readonly string[]
  readonly args: (folder: string) => string[]
}

export const haproxy: Gateway = {
  part: 'haproxy',
  guide: 'haproxy.md',
  files: ['haproxy.cfg', 'tidegate.lua'],
  args: () => ['-f', 'haproxy.cfg', '-db'],
}

export const caddy: Gateway = {
  part: 'caddy',
  guide: 'caddy.md',
  files: ['Caddyfile'],
  args: () => ['run', '--config', 'Caddyfile', '--adapter', 'caddyfile'],
}

export const nginxLua: Gateway = {
  part: 'nginx',
  guide: 'nginx-lua.md',
  files: ['nginx.conf', 'tidegate.lua'],
  args: (folder) => ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr', '-g', 'daemon off;'],
}

/** A real gateway with the files of its guide: their ports moved, and `edit` applied. */
export async function startGateway(
  { part, guide, files, args }: Gateway,
  ports: { readonly tidegate: number; readonly application: number },
  edit: (text: string) => string = (text) => text,
): Promise<Service> {
  const binary = findPart(part)
  if (binary === undefined) throw new Error(`${part} is not installed`)
  const port = await freePort()
  const folder = await temporaryFolder(part)
  // Workers of nginx are another user, and read files there.
  await chmod(folder, 0o755)
  for (const name of files) {
    const text = withPorts(guideFile(guide, name), { 8080: port, 8081: ports.tidegate, 8082: ports.application })
    await writeFile(join(folder, name), edit(text))
  }
  const ready = async () => (await fetch(`http://127.0.0.1:${port}/ready`)).status === 200
  const env = { XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder }
  return startService(binary, args(folder), { port, folder, env }, ready)
}
