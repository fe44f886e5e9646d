import type { Entry } from '../../admission.ts'
import { hasLeases, type Rule } from '../../rule.ts'

/** Runs the `entries` script for one page; scripts/entries.lua says what the positions are. */
export type ReadPage = (after: string, last: string) => Promise<unknown>

/**
 * The live admissions of one key, read in pages, so that a log of a million entries keeps neither the server nor this
 * process from other work for long. What is admitted meanwhile need not be among them.
 */
export async function readEntries(rule: Rule, readPage: ReadPage): Promise<Entry[]> {
  // A lease that is renewed while the pages are read turns up again, as the newest.
  const leases = hasLeases(rule)
  const entries = new Map<string | number, Entry>()
  let [after, last] = ['', '']
  do {
    const page = (await readPage(after, last)) as string[]
    ;[after = '', last = ''] = page
    for (let i = 2; i < page.length; i += 3) {
      const entry: Entry = { at: Number(page[i]), id: page[i + 1] as string, cost: Number(page[i + 2]) }
      const name = leases ? entry.id : entries.size
      entries.delete(name)
      entries.set(name, entry)
    }
  } while (after !== '')
  return [...entries.values()]
}
