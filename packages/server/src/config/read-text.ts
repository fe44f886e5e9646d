import { readFileSync, statSync } from 'node:fs'
import type { ConfigProblem, Position } from './problem.ts'

/** A larger file is a mistake: 16 MiB are some hundred thousand rules. */
const MOST_BYTES = 16 * 1024 * 1024
const EXPECTED = 'a YAML or JSON file in UTF-8'

/** The text of a file, or why it is none. */
export function readText(file: string): { text: string } | { problem: ConfigProblem } {
  let bytes: Buffer
  try {
    const { size } = statSync(file)
    if (size > MOST_BYTES) return at(START, `the file has ${size} bytes`, `at most ${MOST_BYTES}`)
    bytes = readFileSync(file)
  } catch (error) {
    return at(START, `the file cannot be read (${reasonOf(error)})`, EXPECTED)
  }
  const valid = lengthOfUtf8(bytes)
  // With `stream` a character that is cut off is left out, not replaced.
  const text = new TextDecoder().decode(bytes.subarray(0, valid), { stream: valid < bytes.length })
  if (valid < bytes.length) return at(positionAt(text, text.length), 'a byte that is not UTF-8', EXPECTED)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose.
  const control = text.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/)
  return control < 0 ? { text } : at(positionAt(text, control), 'a control character', EXPECTED)
}

const START: Position = { line: 1, column: 1 }

function at(position: Position, what: string, expected: string): { problem: ConfigProblem } {
  return { problem: { ...position, what, expected } }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  const known: Record<string, string> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a directory',
    EACCES: 'permission denied',
  }
  return known[code ?? ''] ?? message
}

function positionAt(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
}

/** How many bytes from the start are UTF-8, by halving: a decoder says that there is an error, not where. */
function lengthOfUtf8(bytes: Buffer): number {
  if (isUtf8(bytes, false)) return bytes.length
  let good = 0
  let bad = bytes.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (isUtf8(bytes.subarray(0, middle), true)) good = middle
    else bad = middle
  }
  return good
}

/** With `stream` the text may end within a character. */
function isUtf8(bytes: Uint8Array, stream: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream })
    return true
  } catch {
    return false
  }
}
