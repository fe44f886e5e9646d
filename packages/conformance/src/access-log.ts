import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One line of an access log in the combined format of Apache and nginx. */
export interface LoggedRequest {
  readonly address: string
  readonly method: string
  readonly target: string
}

const LINE = /^(\S+) \S+ \S+ \[[^\]]+\] "([A-Z]+) (\S+) HTTP\/[\d.]+"/

/** A thousand requests of a real site, in the order in which they were logged; addresses replaced. */
export function readAccessLog(): LoggedRequest[] {
  const text = readFileSync(join(import.meta.dirname, '../data/access-combined-1000.log'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line, i) => {
      const [, address, method, target] = LINE.exec(line) ?? []
      if (address === undefined || method === undefined || target === undefined)
        throw new Error(`line ${i + 1}: ${line}`)
      return { address, method, target }
    })
}
