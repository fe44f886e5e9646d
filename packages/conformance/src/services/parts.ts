import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/** The programs that tests start for real, and the Debian package that holds each. */
export const PARTS = {
  'redis-server': 'redis-server',
  nginx: 'nginx',
} as const

export type Part = keyof typeof PARTS

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
