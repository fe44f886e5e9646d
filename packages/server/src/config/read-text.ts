import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { ConfigProblem, Position } from './problem.ts'

/** A larger file is a mistake: 16 MiB are some hundred thousand rules. */
const MOST_BYTES = 16 * 1024 * 1024
/** How long whoever writes into a pipe has to send all of it. Milliseconds. */
const PATIENCE_MS = 10_000
/** How often a pipe without anything in it is looked at again. Milliseconds. */
const PAUSE_MS = 10
const EXPECTED = 'a YAML or JSON file in UTF-8'

/**
 * The text of a file, or of a pipe such as `<(command)`, or why it is none. Reads no more than one
 * byte too many, and waits for a pipe no longer than `patienceMs`.
 */
export function readText(file: string, patienceMs = PATIENCE_MS): { text: string } | { problem: ConfigProblem } {
  let bytes: Buffer | undefined
  try {
    bytes = readBytes(file, patienceMs)
  } catch (error) {
    return at(START, `the file cannot be read (${reasonOf(error)})`, EXPECTED)
  }
  if (bytes === undefined) return at(START, `a pipe that did not end within ${patienceMs / 1000} seconds`, EXPECTED)
  if (bytes.length > MOST_BYTES) return at(START, 'a file of more than 16 MiB', 'at most 16 MiB')
  const valid = lengthOfUtf8(bytes)
  // With `stream` a character that is cut off is left out, not replaced.
  const text = new TextDecoder().decode(bytes.subarray(0, valid), { stream: valid < bytes.length })
  if (valid < bytes.length) return at(positionAt(text, text.length), 'a byte that is not UTF-8', EXPECTED)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose.
  const control = text.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/)
  return control < 0 ? { text } : at(positionAt(text, control), 'a control character', EXPECTED)
}

/** The bytes of a file, one too many where there are more than it may have; undefined for a pipe that does not end in time. */
function readBytes(file: string, patienceMs: number): Buffer | undefined {
  // Opening a pipe that nobody writes into would otherwise not come back. Windows has no such flag.
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const isPipe = fstatSync(descriptor).isFIFO()
    const deadline = performance.now() + patienceMs
    const chunks: Buffer[] = []
    let size = 0
    while (size <= MOST_BYTES) {
      const chunk = readChunk(descriptor, MOST_BYTES + 1 - size)
      // A pipe that nobody has opened for writing yet seems to be at its end.
      const isWaiting = chunk === undefined || (isPipe && size === 0 && chunk.length === 0)
      if (isWaiting) {
        if (performance.now() > deadline) return undefined
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
      } else if (chunk.length === 0) break
      else {
        chunks.push(chunk)
        size += chunk.length
      }
    }
    return Buffer.concat(chunks)
  } finally {
    closeSync(descriptor)
  }
}

/** What is there now, nothing at the end; undefined where there may come more. */
function readChunk(descriptor: number, most: number): Buffer | undefined {
  const chunk = Buffer.allocUnsafe(Math.min(most, 65_536))
  try {
    return chunk.subarray(0, readSync(descriptor, chunk))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
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
