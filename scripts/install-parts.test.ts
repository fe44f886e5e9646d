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
const bringRedis = ['case $1 in install) d=$(dirname "$0"); cp "$0" "$d/redis-server"; cp "$0" "$d/nginx" ;; esac']
const tools = () => {
  for (const name of ['dirname', 'cp']) put(name, `exec /bin/${name} "$@"`)
  if (!existsSync('/bin/dirname')) put('dirname', 'exec /usr/bin/dirname "$@"')
}

describe('install-parts', () => {
  it('is quiet where nothing is missing', () => {
    for (const name of ['redis-server', 'nginx']) put(name, 'exit 0')
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
    put('apt-get', ...note, ...bringRedis)
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
    expect(stderr).toContain('installed, but not found: redis-server')
  })
})
