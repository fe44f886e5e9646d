import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const HERE = import.meta.dirname
const TSC = join(HERE, '../node_modules/typescript/bin/tsc')

/** Runs a program that prints its address, asks it so often, and ends it. */
async function ask(program: string, paths: readonly string[]): Promise<Response[]> {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  try {
    const [address] = (await Promise.race([
      once(createInterface(child.stdout), 'line'),
      ended.then(() => Promise.reject(new Error(`${program} ended before it listened`))),
    ])) as [string]
    const answers: Response[] = []
    for (const path of paths) answers.push(await fetch(new URL(path, address)))
    return answers
  } finally {
    child.kill()
    await ended
  }
}

/** What the README leaves out: that the port is free, and which it is. */
const LISTEN =
  "const server = app.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port + '/'))"

/** A folder of a package of ES modules that finds the packages that the examples find. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-example-'))
  symlinkSync(join(HERE, '../node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}

const six = Array.from({ length: 6 }, () => '/')
const SIX_STATUSES = [200, 200, 200, 200, 200, 429]

describe('the example of', () => {
  let folder = ''
  beforeAll(() => {
    folder = temporaryFolder()
    execFileSync(process.execPath, [TSC, '-p', join(HERE, 'nestjs'), '--outDir', folder], { stdio: 'inherit' })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(['express', 'fastify', 'koa', 'hono', 'fetch', 'node', 'nestjs'])('%s refuses the sixth', async (name) => {
    const answers = await ask(name === 'nestjs' ? join(folder, 'app.js') : join(HERE, name, 'app.js'), six)
    expect(answers.map(({ status }) => status)).toEqual(SIX_STATUSES)
    expect(await answers[0]?.text()).toBe('hello\n')
    expect(answers[5]?.headers.get('retry-after')).toMatch(/^\d+$/)
  })

  test.each(['fastify', 'nestjs'])('%s limits one route more', async (name) => {
    const program = name === 'nestjs' ? join(folder, 'app.js') : join(HERE, name, 'app.js')
    const answers = await ask(program, ['/login', '/login', ...six])
    // A refusal has charged nobody: four of five are left.
    expect(answers.map(({ status }) => status)).toEqual([200, 429, 200, 200, 200, 200, 429, 429])
  })
})

test('the five lines of the README are such an application', async () => {
  const readme = readFileSync(join(HERE, '../README.md'), 'utf8')
  const [, code] = /```js\n([^`]*tidegate\/express[^`]*)```/.exec(readme) ?? []
  const folder = temporaryFolder()
  try {
    writeFileSync(join(folder, 'app.js'), (code as string).replace('app.listen(3000)', LISTEN))
    const answers = await ask(join(folder, 'app.js'), six)
    expect(answers.map(({ status }) => status)).toEqual(SIX_STATUSES)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
