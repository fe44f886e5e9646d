import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')

/** The JavaScript that a reader would paste, as it stands in a page; what needs a Redis of the reader's is left out. */
function blocksOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(/```js\n([\s\S]*?)```/g)]
    .map(([, code]) => code as string)
    .filter((code) => code.includes('import ') && !/from '(ioredis|redis)'/.test(code))
}

describe('what the pages show runs as it stands', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tidegate-readme-'))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function run(code: string): string {
    writeFileSync(join(folder, 'block.mjs'), code)
    return execFileSync(process.execPath, ['block.mjs'], { cwd: folder, encoding: 'utf8' }).trim()
  }

  test('the five lines of the README print what it says', () => {
    const [fiveLines] = blocksOf('README.md')
    expect(run(fiveLines as string)).toBe('true 4 0')
  })

  test('the blocks of the guide', () => {
    const blocks = blocksOf('docs/guide/library.md').filter((code) => !code.includes('TidegateError'))
    expect(blocks).toHaveLength(4)
    expect(blocks.map(run)).toEqual(['', '', '', 'true false\ntrue'])
  })
})
