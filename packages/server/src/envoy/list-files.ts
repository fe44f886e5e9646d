import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The files of a configuration: the path itself, or all files of that folder and those in it, in the order of their names.
 * Names that begin with a dot are passed by: Kubernetes keeps its versions in such folders, and links to them.
 * @throws Error of the file system
 */
export function listFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path)
    .filter((name) => !name.startsWith('.'))
    .sort()
  return names.flatMap((name) => {
    const one = join(path, name)
    const status = statSync(one)
    return status.isDirectory() || status.isFile() ? listFiles(one) : []
  })
}

/** What changes when any of the files does: what each name leads to, its size and its time. */
export function fingerprintOf(path: string): string {
  return listFiles(path)
    .map((file) => {
      const { ino, size, mtimeMs, ctimeMs } = statSync(file)
      return [file, ino, size, mtimeMs, ctimeMs].join('|')
    })
    .join('\n')
}
