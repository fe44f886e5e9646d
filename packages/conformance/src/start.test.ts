import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')

/** Resolves to the first address that the program says it listens on. */
function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    output.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? []
      if (address !== undefined) resolve(address)
    })
  })
}

test('npm start serves a page and decisions on the embedded store', { timeout: 120_000 }, async () => {
  // A process group of its own: npm does not hand signals on to what it has started.
  const started = spawn('npm', ['start', '--', '--http', '0', '--grpc', '0'], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => started.once('close', resolve))
  try {
    const address = await addressOf(started.stderr)
    const page = await fetch(address)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('Tidegate')
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ descriptor: { route: '/order', tenant: 't1', user: 'u1' } })
    const decision = await fetch(`${address}/v1/limit`, { method: 'POST', headers, body })
    expect(decision.status).toBe(200)
    expect(await decision.json()).toMatchObject({ allowed: true, source: 'store' })
    expect(decision.headers.get('ratelimit')).toContain(';r=')
  } finally {
    process.kill(-(started.pid as number), 'SIGINT')
    await ended
  }
})
