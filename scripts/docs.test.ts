import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const files = execFileSync(
  'git',
  ['-c', `safe.directory=${ROOT}`, 'ls-files', '--cached', '--others', '--exclude-standard'],
  {
    cwd: ROOT,
    encoding: 'utf8',
  },
)
  .trim()
  .split('\n')
  .filter((file) => existsSync(join(ROOT, file)))

describe.each(files.filter((file) => file.endsWith('.md')))('%s', (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8')

  test('leads to files and headings that exist', () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string)
    const dead = links.filter((target) => {
      if (/^(https?:|mailto:)/.test(target)) return false
      const [path = '', anchor] = target.split('#')
      const found = path === '' ? file : join(dirname(file), path)
      if (!existsSync(join(ROOT, found))) return true
      return anchor !== undefined && !headingsOf(found).includes(anchor)
    })
    expect(dead).toEqual([])
  })

  test('holds no place that was to be filled in', () => {
    expect(text).not.toMatch(/\b(TODO|TBD|FIXME)\b|^[A-Z]+(-[A-Z]+)+$/m)
  })
})

test('no .lua source is longer than 100 lines', () => {
  const long = files
    .filter((file) => file.endsWith('.lua'))
    .filter((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length > 101)
  expect(long).toEqual([])
})

function headingsOf(file: string): string[] {
  const headings = readFileSync(join(ROOT, file), 'utf8').matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, title]) =>
    (title as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
