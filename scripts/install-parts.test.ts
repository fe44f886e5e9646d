import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

/**
 * The script is run with a PATH that holds nothing but what a test puts there, so that redis-server
 * is missing, and with an apt-get that writes down what it was asked for.
 */
const script = join(import.meta.dirname, 'install-parts.mjs')
const policy = '/usr/sbin/policy-rc.d'
const isRoot = process.getuid?.() === 0
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidegate-parts-'))
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function put(name: string, ...lines: string[]): void {
  writeFileSync(join(folder, name), ['#!/bin/sh', ...lines, ''].join('\n'))
  chmodSync(join(folder, name), 0o755)
}

function run(environment: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    env: { PATH: folder, ...environment },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

const asked = () => readFileSync(join(folder, 'asked'), 'utf8')
const note = [`echo "$* policy:$(test -x ${policy} && echo yes)" >> "$(dirname "$0")/asked"`]
const list = JSON.parse(readFileSync(join(import.meta.dirname, '../packages/conformance/parts.json'), 'utf8'))
/** Modules are where their program looks for them, whatever the PATH. */
const programs = Object.keys(list).filter((name) => !name.endsWith('.so'))
const bringAll = [
  `case $1 in install) d=$(dirname "$0"); ${programs.map((name) => `cp "$0" "$d/${name}"`).join('; ')} ;; esac`,
]
const known = (candidate = '1.0') => put('apt-cache', `echo "  Candidate: ${candidate}"`)
const tools = () => {
  known()
  for (const name of ['dirname', 'cp']) put(name, `exec /bin/${name} "$@"`)
  if (!existsSync('/bin/dirname')) put('dirname', 'exec /usr/bin/dirname "$@"')
}

describe('install-parts', () => {
  it('is quiet where nothing is missing', () => {
    for (const name of programs) put(name, 'exit 0')
    expect(run({ CI: '1' })).toEqual({ status: 0, stdout: '', stderr: '' })
  })

  it('says what to run where it cannot install, and lets the tests go on', () => {
    const { status, stderr } = run()
    expect(status).toBe(0)
    expect(stderr).toContain('there is no apt-get here')
    expect(stderr).toMatch(/apt-get update && apt-get install -y --no-install-recommends redis-server/)
    expect(stderr).toContain('skipped')
  })

  it.each([{ CI: '1' }, { TIDEGATE_REQUIRE_PARTS: '1' }])('fails there with %o', (environment) => {
    expect(run(environment).status).toBe(1)
  })

  it.runIf(isRoot)('installs what is missing, with service starts forbidden meanwhile', () => {
    tools()
    put('apt-get', ...note, ...bringAll)
    const before = existsSync(policy)
    expect(run({ CI: '1' })).toMatchObject({ status: 0, stderr: '' })
    expect(asked()).toMatch(/^update .*policy:yes\ninstall -y .*--no-install-recommends redis-server.* policy:yes\n$/)
    expect(existsSync(policy)).toBe(before)
  })

  it.runIf(isRoot)('clears up and fails where apt-get fails', () => {
    tools()
    put('apt-get', ...note, 'exit 100')
    const before = existsSync(policy)
    const { status, stderr } = run({ CI: '1' })
    expect(status).toBe(1)
    expect(stderr).toContain('apt-get update failed')
    expect(existsSync(policy)).toBe(before)
    expect(run().status).toBe(0)
  })

  it.runIf(isRoot)('does not take the word of apt-get for it', () => {
    tools()
    put('apt-get', ...note)
    const { status, stderr } = run({ CI: '1' })
    expect(status).toBe(1)
    expect(stderr).toContain('not there after the installation: redis-server')
  })

  describe.runIf(isRoot && readFileSync('/etc/os-release', 'utf8').includes('bookworm'))('on Debian 12', () => {
    const source = '/etc/apt/sources.list.d/tidegate-backports.sources'
    let before: string | undefined
    beforeEach(() => {
      before = existsSync(source) ? readFileSync(source, 'utf8') : undefined
      rmSync(source, { force: true })
      tools()
      known('(none)')
    })
    afterEach(() => {
      if (before === undefined) rmSync(source, { force: true })
      else writeFileSync(source, before)
    })

    it('adds the backports where a package is nowhere else', () => {
      put('apt-get', ...note)
      run()
      expect(asked()).toMatch(/^update .*\nupdate .*\n$/)
      expect(readFileSync(source, 'utf8')).toContain('Suites: bookworm-backports\n')
    })

    it('installs what apt knows where it does not know everything', () => {
      tools()
      put('apt-cache', 'case $2 in valkey-server) c="(none)" ;; *) c=1.0 ;; esac', 'echo "  Candidate: $c"')
      put('apt-get', ...note)
      const { stderr } = run()
      expect(asked()).toMatch(/install -y .* redis-server( [a-z-]+)* policy/)
      expect(stderr).toContain('valkey-server')
    })

    it('leaves no source behind that cannot be read', () => {
      put('apt-get', ...note, `test ! -e ${source}`)
      expect(run().stderr).toContain('apt-get update failed')
      expect(existsSync(source)).toBe(false)
    })
  })
})
