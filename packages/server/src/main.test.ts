import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { serviceErrorCodes, statusOfCode } from './errors.ts'
import { settings } from './settings/settings.ts'
import { withoutPadding } from './testing/markdown-table.ts'
import { main, Workplace } from './testing/program.ts'

const workplace = new Workplace()
afterAll(() => workplace.close())
const finished = workplace.finished.bind(workplace)
const serving = workplace.serving.bind(workplace)
const file = workplace.file.bind(workplace)

/** How many ask at the same time while a signal comes. */
const CLIENTS = 20

describe('tidegate', () => {
  test('--help and --version', async () => {
    const help = await finished('--help')
    expect([help.code, help.stderr]).toEqual([0, ''])
    expect(help.stdout).toMatch(/^Usage:\n {2}tidegate serve/)
    expect(help.stdout).toContain('--trust-proxy LIST')
    expect(await finished('--version')).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' })
  })

  test.each([
    [[], 'no command: expected serve, validate or explain'],
    [['constructor'], 'constructor: expected serve, validate or explain'],
    [['validate'], 'validate: expected the name of one file'],
    [['validate', 'a', 'b'], 'validate: expected the name of one file'],
    [
      ['validate', '--strct', 'a'],
      'validate: --strct: there is no such flag, expected --strict, --cluster, --ratelimit',
    ],
    [['validate', '--strict=1', 'a'], 'validate: --strict takes no value'],
    [
      ['serve', '--port', '1'],
      `--port: expected one of ${Object.values(settings)
        .map(({ flag }) => flag)
        .join(', ')}; there is no such flag`,
    ],
    [['serve', '--http', 'x'], '--http: expected a port from 0 to 65535; received "x"'],
  ])('%j is one line on stderr and exit code 1', async (args, message) => {
    expect(await finished(...args)).toEqual({
      code: 1,
      stdout: '',
      stderr: `tidegate: ${message}\nSee tidegate --help.\n`,
    })
  })

  test('validate says ok, or what is wrong', async () => {
    const rule = '  - { name: a, limit: 1, window: 1s }\n'
    expect(await finished('validate', file('good.yaml', `rules:\n${rule}`))).toEqual({
      code: 0,
      stdout: 'good.yaml: ok, 1 rule\n',
      stderr: '',
    })
    const none = 'none.yaml:1:8: rules is an empty list, expected at least one rule\n'
    expect(await finished('validate', file('none.yaml', 'rules: []'))).toEqual({ code: 1, stdout: '', stderr: none })
    expect(await finished('serve', '--config', 'none.yaml')).toEqual({ code: 1, stdout: '', stderr: none })
    const stderr = 'bad.yaml:3:13: rules[1].name is "a", as rules[0].name is, expected a name that no other rule has\n'
    expect(await finished('validate', file('bad.yaml', `rules:\n${rule}${rule}`))).toEqual({
      code: 1,
      stdout: '',
      stderr,
    })
    expect(await finished('serve', '--config', 'bad.yaml')).toEqual({ code: 1, stdout: '', stderr })
  })

  test('validate warns of what may not be meant; with --strict that is wrong', async () => {
    const name = file(
      'odd.yaml',
      'rules: [{ name: a, limit: 1, window: 1s }, { name: b, key: [user], limit: 0, window: 1s }]',
    )
    const warning =
      'odd.yaml:1:75: warning: rules[1] (b) refuses every request with a user: it admits nothing, and has no match; give it a limit, or a match for those who are meant\n'
    const ok = { code: 0, stdout: 'odd.yaml: ok, 2 rules, 1 warning\n', stderr: warning }
    expect(await finished('validate', name)).toEqual(ok)
    expect(await finished('validate', '--strict', name)).toEqual({ code: 1, stdout: '', stderr: warning })
    const noted = await finished('validate', name, '--cluster')
    expect(noted).toEqual({ ...ok, stderr: expect.stringMatching(/^odd\.yaml:1:75: .*\nodd\.yaml:1:60: info: .*\n$/) })
  })

  test('validate reads what another program writes', async () => {
    file('piped.yaml', 'rules: [{ name: a, limit: 1, window: 1s }]')
    const script = `"$0" "$1" validate <(sleep 0.3; cat piped.yaml)`
    const child = spawn('bash', ['-c', script, process.execPath, main], { cwd: workplace.folder })
    let printed = ''
    child.stdout.on('data', (chunk) => (printed += String(chunk)))
    child.stderr.on('data', (chunk) => (printed += String(chunk)))
    expect([await once(child, 'close'), printed]).toEqual([[0, null], expect.stringMatching(/^\/\S+: ok, 1 rule\n$/)])
  })

  test('a port that is taken is an error, not a stack', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const { code, stderr } = await finished('serve', '--http', String(port))
    taken.close()
    expect([code, stderr]).toEqual([
      1,
      `tidegate: cannot listen on 127.0.0.1:${port}: it is in use\nSee tidegate --help.\n`,
    ])
  })

  test('an address that is not of this machine is an error, not a stack', async () => {
    // Of a range kept for documentation (RFC 5737).
    const { code, stderr } = await finished('serve', '--host', '192.0.2.1', '--http', '8080')
    expect([code, stderr]).toEqual([
      1,
      'tidegate: cannot listen on 192.0.2.1:8080: this machine has no such address\nSee tidegate --help.\n',
    ])
  })
})

describe('tidegate serve', () => {
  test('prints and logs the port it took, and serves the example rules', async () => {
    const { url, output, child, code } = await serving()
    expect(await (await fetch(url)).text()).toContain('order-per-tenant')
    child.kill('SIGINT')
    expect(await code).toBe(0)
    const lines = output.stdout.trim().split('\n')
    const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(logged).toContainEqual(expect.objectContaining({ msg: 'listening', address: url, rules: 3 }))
    expect(logged.at(-1)).toMatchObject({ msg: 'drained' })
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('%s under load fails no request, and ends with 0', async (signal) => {
    const { url, child, code } = await serving(
      '--config',
      file('load.yaml', 'rules: [{ name: a, limit: 4000000, window: 1m }]'),
    )
    const results: (number | string)[] = []
    let refused = 0
    let warm = 0
    let allAreWarm = (): void => undefined
    const warmedUp = new Promise<void>((resolve) => {
      allAreWarm = resolve
    })
    const clients = Array.from({ length: CLIENTS }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      for (let answered = 1; ; answered++) {
        const result = await ask(url, agent)
        // Nobody listens any more: where a load balancer goes elsewhere, and nothing was sent.
        if (result === 'ECONNREFUSED') return refused++
        results.push(result)
        if (answered === 3 && ++warm === CLIENTS) allAreWarm()
      }
    })
    await Promise.race([warmedUp, Promise.all(clients)])
    const before = results.length
    child.kill(signal)
    await Promise.all(clients)
    expect(await code).toBe(0)
    expect(results.filter((result) => result !== 200)).toEqual([])
    expect(before).toBeGreaterThanOrEqual(3 * CLIENTS)
    // Each had a request on its way when the signal was sent.
    expect(results.length).toBeGreaterThanOrEqual(before + CLIENTS)
    expect(refused).toBe(CLIENTS)
  })

  test('a request that is half sent when the signal comes is finished', async () => {
    const { url, child, code } = await serving()
    const sent = request(`${url}/v1/limit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': 17 },
    })
    sent.write('{"descript')
    const answered = once(sent, 'response')
    await new Promise((resolve) => setTimeout(resolve, 200))
    child.kill('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 1200))
    expect(child.exitCode).toBeNull()
    sent.end('or":{}}')
    const [response] = (await answered) as [import('node:http').IncomingMessage]
    expect([response.statusCode, response.headers['connection']]).toEqual([200, 'close'])
    response.resume()
    expect(await code).toBe(0)
  })

  test('a second signal ends it at once', async () => {
    const { url, child, code } = await serving()
    const hanging = request(`${url}/v1/limit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': 17 },
    })
    hanging.on('error', () => undefined).write('{')
    await new Promise((resolve) => setTimeout(resolve, 200))
    child.kill('SIGTERM')
    await new Promise((resolve) => setTimeout(resolve, 200))
    const second = performance.now()
    child.kill('SIGINT')
    expect(await code).toBe(1)
    expect(performance.now() - second).toBeLessThan(3000)
  })

  test('starts with Redis down, and warns', async () => {
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as { port: number }
    probe.close()
    const { url, output, child, code } = await serving('--redis', `redis://user:secret@127.0.0.1:${port}`)
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ status: 'degraded' })
    expect(output.stdout).toContain('Redis is not reachable')
    expect(output.stdout).not.toContain('secret')
    child.kill('SIGTERM')
    expect(await code).toBe(0)
  })
})

test('each error of the service is in the reference, with its status', () => {
  const reference = readFileSync(new URL('../../../docs/reference/service.md', import.meta.url), 'utf8')
  const rows = Object.entries(serviceErrorCodes).map(([code, doc]) => {
    const status =
      code === 'ERR_INVALID_SETTING' || code === 'ERR_CANNOT_LISTEN'
        ? '–'
        : statusOfCode[code as keyof typeof statusOfCode]
    return `| \`${code}\` | ${status} | ${doc} |`
  })
  expect(withoutPadding(reference)).toContain(withoutPadding(rows.join('\n')))
})

function ask(url: string, agent: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' }
    const sent = request(`${url}/v1/limit`, { method: 'POST', headers, agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
    sent.end('{"descriptor":{}}')
  })
}
