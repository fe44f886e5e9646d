import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** What a test starts by itself. */
export const main: string = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** A running `tidegate`. */
export interface Program {
  readonly child: ChildProcessWithoutNullStreams
  /** All that it has written so far. */
  readonly output: { stdout: string; stderr: string }
  readonly code: Promise<number | null>
}

/** A `tidegate serve` that answers. */
export interface ServingProgram extends Program {
  readonly url: string
  /** The lines that it has logged, parsed. */
  log(): Record<string, unknown>[]
}

/** A folder for files and the programs that read them; what still runs is killed when it is closed. */
export class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), 'tidegate-program-'))
  readonly #started: ChildProcessWithoutNullStreams[] = []

  /** Writes a file, and gives its name as the programs here see it. */
  file(name: string, content: string): string {
    writeFileSync(join(this.folder, name), content)
    return name
  }

  run(...args: string[]): Program {
    const child = spawn(process.execPath, [main, ...args], { cwd: this.folder, env: { PATH: process.env['PATH'] } })
    this.#started.push(child)
    const output = { stdout: '', stderr: '' }
    child.stdout.on('data', (chunk) => (output.stdout += String(chunk)))
    child.stderr.on('data', (chunk) => (output.stderr += String(chunk)))
    return { child, output, code: once(child, 'close').then(([code]) => code as number | null) }
  }

  async finished(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const { code, output } = this.run(...args)
    return { code: await code, ...output }
  }

  async serving(...args: string[]): Promise<ServingProgram> {
    const program = this.run('serve', '--http', '0', '--grpc', 'off', ...args)
    const isThere = () => /listening on/.test(program.output.stderr) || program.child.exitCode !== null
    await until(isThere, START_MS)
    const [, url] = /listening on (http:\S+)/.exec(program.output.stderr) ?? []
    if (url === undefined) throw new Error(JSON.stringify(program.output))
    const log = () => {
      const lines = program.output.stdout.split('\n').slice(0, -1)
      return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    }
    return { ...program, url, log }
  }

  close(): void {
    for (const child of this.#started) if (child.exitCode === null) child.kill('SIGKILL')
    rmSync(this.folder, { recursive: true })
  }
}

/** How long a program may take to start where much else runs: with workers it is several programs, one after the other. */
const START_MS = 60_000

/** Waits until something is so. @throws Error after so many ms */
export async function until(isSo: () => boolean, mostMs = 20_000): Promise<void> {
  const deadline = Date.now() + mostMs
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`not so after ${mostMs} ms`)
    await sleep(10)
  }
}
