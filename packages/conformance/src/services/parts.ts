import { accessSync, constants, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A program that tests start for real. */
export type Part = 'redis-server' | 'valkey-server' | 'nginx'

/** The Debian package that holds each; `npm test` installs them from the same list. */
const PARTS: Record<Part, string> = JSON.parse(readFileSync(join(import.meta.dirname, '../../parts.json'), 'utf8'))

/** Daemons live outside of a plain user's PATH. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin', '/sbin']

/**
 * Where a part is installed; undefined where it is not, so that a test can be skipped.
 * @throws Error where `CI` or `TIDEGATE_REQUIRE_PARTS` is set: a missing part is a failure there
 */
export function findPart(part: Part): string | undefined {
  const found = FOLDERS.map((folder) => join(folder, part)).find(isExecutable)
  if (found === undefined && (process.env['CI'] || process.env['TIDEGATE_REQUIRE_PARTS'])) {
    throw new Error(howToInstall(part))
  }
  return found
}

/** What a skipped test says. */
export function howToInstall(part: Part): string {
  return `needs ${part}: sudo apt-get install ${PARTS[part]}`
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
