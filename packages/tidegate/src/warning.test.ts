import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { httpWarnings } from './http/warnings.ts'

const sources = import.meta.dirname
const pages = join(sources, '../../../docs/help')

/** Every code: those of HTTP are a table, the others a type. */
const codes = new Set([
  ...Object.keys(httpWarnings),
  ...[...readFileSync(join(sources, 'observer.ts'), 'utf8').matchAll(/^ +\| '(TIDEGATE_\w+)'$/gm)].map(
    ([, code]) => code as string,
  ),
])

describe('the help on warnings', () => {
  test('has codes to look for', () => expect(codes.size).toBeGreaterThanOrEqual(11))

  test.each([...codes])('%s has a page that says what is wrong and what to do, and is in the list', (code) => {
    expect(existsSync(join(pages, `${code}.md`))).toBe(true)
    const page = readFileSync(join(pages, `${code}.md`), 'utf8')
    expect(page.startsWith(`# ${code}\n`)).toBe(true)
    expect(page.length).toBeGreaterThan(400)
    // What it costs stands out.
    expect(page).toMatch(/\*\*[^*]+\*\*/)
    expect(readFileSync(join(pages, 'README.md'), 'utf8')).toContain(`](${code}.md)`)
  })

  test('has no page of a code that does not exist', () => {
    const known = readdirSync(pages).filter((name) => name !== 'README.md')
    expect(known.filter((name) => !codes.has(name.replace(/\.md$/, '')))).toEqual([])
  })
})
