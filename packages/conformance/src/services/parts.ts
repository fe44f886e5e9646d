import { accessSync, constants, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A program, or a module of one, that tests start for real. */
export type Part =
  | 'redis-server'
  | 'valkey-server'
  | 'nginx'
  | 'ngx_http_lua_module.so'
  | 'haproxy'
  | 'caddy'
  | 'prometheus'
  | 'promtool'
  | 'envoy'

/** The Debian package that holds each; `npm test` installs them from the same list. Envoy is in none. */
const PARTS: Partial<Record<Part, string>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../parts.json'), 'utf8'),
)

/** Where scripts/install-envoy.mjs puts Envoy. */
const ENVOY_FOLDER = join(import.meta.dirname, '../../.parts/envoy/_bin')

/** Daemons live outside of a plain user's PATH, modules where nginx looks for them. */
const FOLDERS = [
  ...(process.env['PATH'] ?? '').split(':'),
  '/usr/sbin',
  '/usr/local/sbin',
  '/sbin',
  '/usr/lib/nginx/modules',
  ENVOY_FOLDER,
]

/**
 * Where a part is installed; undefined where it is not, so that a test can be skipped.
 * @throws Error where `CI` or `TIDEGATE_REQUIRE_PARTS` is set: a missing part is a failure there
 */
export function findPart(part: Part): string | undefined {
  const mode = part.endsWith('.so') ? constants.R_OK : constants.X_OK
  const found = FOLDERS.map((folder) => join(folder, part)).find((path) => isAccessible(path, mode))
  if (found === undefined && (process.env['CI'] || process.env['TIDEGATE_REQUIRE_PARTS'])) {
    throw new Error(howToInstall(part))
  }
  return found
}

/** What a skipped test says. */
export function howToInstall(part: Part): string {
  if (part === 'envoy') return 'needs envoy: node scripts/install-envoy.mjs'
  return `needs ${part}: sudo apt-get install ${PARTS[part]}`
}

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
