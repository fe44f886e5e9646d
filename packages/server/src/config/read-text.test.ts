import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { formatProblem } from './problem.ts'
import { readText } from './read-text.ts'

const folder = mkdtempSync(join(tmpdir(), 'tidegate-text-'))
afterAll(() => rmSync(folder, { recursive: true }))

const PATIENCE_MS = 300
const UTF8 = 'expected a YAML or JSON file in UTF-8'
const TOO_LARGE = '1:1: a file of more than 16 MiB, expected at most 16 MiB'
const LARGEST = 16 * 1024 * 1024

/** The text of a file; or why it is none, as it is printed, without the file's name. */
function read(file: string, patienceMs?: number): { text: string } | string {
  const answer = readText(file, patienceMs)
  return 'text' in answer ? answer : formatProblem('', answer.problem).slice(1)
}

function pipe(name: string): string {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  return path
}

describe('a file that is no text', () => {
  const broken: [mistake: string, content: string | Uint8Array, error: string][] = [
    [
      'bytes that are not UTF-8',
      Buffer.concat([Buffer.from('rules:\n  - name: ä'), Buffer.from([0xe4, 0x0a])]),
      '2:12: a byte that is not UTF-8, expected a YAML or JSON file in UTF-8',
    ],
    [
      'a program',
      Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]),
      '1:1: a control character, expected a YAML or JSON file in UTF-8',
    ],
    [
      'UTF-16',
      Buffer.from('\ufeffrules: []', 'utf16le'),
      '1:1: a byte that is not UTF-8, expected a YAML or JSON file in UTF-8',
    ],
    ['NUL', 'rules: []\n# \0\n', '2:3: a control character, expected a YAML or JSON file in UTF-8'],
  ]
  test.each(broken)('%s', (_mistake, content, error) => {
    const file = join(folder, 'broken')
    writeFileSync(file, content)
    expect(read(file)).toBe(error)
  })

  test('that is not there, or a folder', () => {
    expect(read(join(folder, 'none'))).toBe(`1:1: the file cannot be read (there is no such file), ${UTF8}`)
    expect(read(folder)).toBe(`1:1: the file cannot be read (it is a directory), ${UTF8}`)
  })
})

describe('a file that is too large', () => {
  test('by one byte', () => {
    const file = join(folder, 'large')
    writeFileSync(file, Buffer.alloc(LARGEST, '#'))
    expect(read(file)).toHaveProperty('text.length', LARGEST)
    truncateSync(file, LARGEST + 1)
    expect(read(file)).toBe(TOO_LARGE)
  })

  test('because it has no end', () => {
    expect(read('/dev/zero')).toBe(TOO_LARGE)
  })
})

describe('a pipe', () => {
  const silent = `1:1: a pipe that did not end within ${PATIENCE_MS / 1000} seconds, ${UTF8}`

  test('without a writer is given up', () => {
    expect(read(pipe('lonely'), PATIENCE_MS)).toBe(silent)
  })

  test('whose writer does not end is given up', () => {
    const path = pipe('endless')
    const writer = spawn('sh', ['-c', 'exec > "$0"; echo "rules: []"; exec sleep 60', path])
    try {
      expect(read(path, PATIENCE_MS)).toBe(silent)
    } finally {
      writer.kill('SIGKILL')
    }
  })

  test('is read to its end, however slowly and in however many parts it comes', () => {
    const path = pipe('slow')
    spawn('sh', ['-c', 'sleep 0.3; exec > "$0"; echo one; sleep 0.3; echo two', path])
    expect(read(path)).toEqual({ text: 'one\ntwo\n' })
  })

  test('without end is too large', () => {
    const path = pipe('flood')
    spawn('sh', ['-c', 'exec cat /dev/zero > "$0"', path])
    expect(read(path)).toBe(TOO_LARGE)
  })
})

test('what stands in no file system can be read too', () => {
  expect(read('/dev/null')).toEqual({ text: '' })
  expect(read('/proc/self/status')).toHaveProperty('text')
})
