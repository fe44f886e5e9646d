import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type ServingProgram, until, Workplace } from '../testing/program.ts'

/** A real process, a real file and real signals. Needs `npm run build`. */
const workplace = new Workplace()
afterAll(() => workplace.close())

const file = (rules: string, ...more: string[]) =>
  workplace.file('rules.yaml', [`rules: [${rules}]`, ...more].join('\n'))
const user = (limit: number) => `{ name: user, key: [user], limit: ${limit}, window: 1h }`

async function serve(rules: string, ...more: string[]): Promise<ServingProgram> {
  return workplace.serving('--config', file(rules, ...more), '--trust-proxy', 'loopback')
}

/** Sends SIGHUP, and waits for what is logged about it. */
async function hangUp({ child, log }: ServingProgram): Promise<Record<string, unknown>> {
  const told = () => log().filter(({ msg }) => String(msg).includes('the configuration file'))
  const before = told().length
  child.kill('SIGHUP')
  await until(() => told().length > before)
  return told()[before] as Record<string, unknown>
}

async function limit({
  url,
}: ServingProgram): Promise<{ status: number; policy: string | null; used: number; version: string }> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"descriptor":{"user":"u"}}' }
  const answer = await fetch(`${url}/v1/limit`, init)
  const { used, version } = (await answer.json()) as { used: number; version: string }
  return { status: answer.status, policy: answer.headers.get('ratelimit-policy'), used, version }
}

describe('SIGHUP', () => {
  test('serves the rules that the file has now, and keeps the counts', async () => {
    const program = await serve(user(5))
    await limit(program)
    await limit(program)
    file(`${user(2)}, { name: site, limit: 50, window: 1m }`)
    const logged = await hangUp(program)
    expect(logged).toMatchObject({
      level: 30,
      msg: 'the configuration file was read again: 1 added, 1 changed',
      config: 'rules.yaml',
      added: ['site'],
      removed: [],
      changed: [{ name: 'user', fields: ['limit'], keepsCounts: true }],
      settings: [],
    })
    const version = logged['version'] as string
    expect(await limit(program)).toEqual({
      status: 429,
      policy: '"user";q=2;w=3600, "site";q=50;w=60',
      used: 2,
      version,
    })
    const page = await (await fetch(program.url)).text()
    expect([page.includes(version), page.includes('site')]).toEqual([true, true])
    expect(await hangUp(program)).toMatchObject({ msg: expect.stringContaining('no rule or setting has changed') })
  })

  test('serves the other settings of the file as well', async () => {
    const rules = '{ name: user, key: [user], limit: 0, window: 1h, match: { host: a.example } }'
    const program = await serve(rules)
    const auth = async () => {
      const headers = { 'x-forwarded-host': 'a.example', 'x-forwarded-uri': '/', 'x-user': 'u' }
      return (await fetch(`${program.url}/auth`, { headers })).status
    }
    expect(await auth()).toBe(200)
    file(rules, 'forwardAuth: { headers: { user: x-user } }', 'denyStatus: 403')
    expect(await hangUp(program)).toMatchObject({ level: 30, settings: ['forwardAuth.headers', 'denyStatus'] })
    expect(await auth()).toBe(403)
    file(rules)
    await hangUp(program)
    expect(await auth()).toBe(200)
  })

  const broken: [string, () => void, string[]][] = [
    [
      'wrong rules, each with its place',
      () => file(`${user(-1)}, { name: user, limit: 1, windw: 1s }`),
      [
        'rules.yaml:1:43: rules[0].limit is -1, expected a whole number from 0 to 4,294,967,295',
        'rules.yaml:1:69: rules[1].name is "user", as rules[0].name is, expected a name that no other rule has',
        expect.stringMatching(/^rules\.yaml:1:85: rules\[1\]\.windw does not exist, expected one of name, /) as string,
      ],
    ],
    [
      'an empty file',
      () => workplace.file('rules.yaml', ''),
      [expect.stringContaining('1:1: the file is empty') as string],
    ],
    ['no rules', () => file(''), ['rules.yaml:1:8: rules is an empty list, expected at least one rule']],
    [
      'a file that is gone',
      () => rmSync(join(workplace.folder, 'rules.yaml')),
      ['rules.yaml:1:1: the file cannot be read (there is no such file), expected a YAML or JSON file in UTF-8'],
    ],
  ]
  test('refuses what is wrong: the last good rules are served, and the log has every problem', async () => {
    const program = await serve(user(9))
    const { version } = await limit(program)
    for (const [i, [what, breakIt, problems]] of broken.entries()) {
      breakIt()
      expect(await hangUp(program), what).toMatchObject({
        level: 50,
        msg: 'the configuration file is refused; what was served before still is',
        problems,
        version,
      })
      expect(await limit(program), what).toMatchObject({ status: 200, used: i + 2, version })
    }
    // Mended as deployments do it, by a rename over it.
    workplace.file('next.yaml', `rules: [${user(3)}]`)
    renameSync(join(workplace.folder, 'next.yaml'), join(workplace.folder, 'rules.yaml'))
    expect(await hangUp(program)).toMatchObject({ level: 30, changed: [{ name: 'user' }] })
    expect(await limit(program)).toMatchObject({ status: 429, used: 5 })
  })

  test('a good file that may not say what is meant is served, with a warning', async () => {
    const program = await serve(user(9))
    file(`${user(9)}, { name: twin, key: [user], limit: 9, window: 1h }`)
    await hangUp(program)
    await until(() => program.log().at(-1)?.['level'] === 40)
    expect(program.log().at(-1)).toMatchObject({
      warnings: [expect.stringMatching(/^rules\.yaml:1:\d+: warning: rules\[1\] \(twin\) does the same as rules\[0\]/)],
    })
  })

  test('under load no request fails, and each is decided by one set of rules', async () => {
    const program = await serve(user(1_000_000))
    const seen = new Map<string, Set<string | null>>()
    let isLoaded = true
    const clients = Array.from({ length: 10 }, async () => {
      while (isLoaded) {
        const { status, policy, version } = await limit(program)
        expect(status).toBe(200)
        seen.set(version, (seen.get(version) ?? new Set()).add(policy))
      }
    })
    for (let i = 1; i <= 30; i++) {
      file(user(1_000_000 + i))
      await hangUp(program)
    }
    isLoaded = false
    await Promise.all(clients)
    expect(seen.size).toBeGreaterThan(3)
    expect([...seen.values()].filter((policies) => policies.size !== 1)).toEqual([])
    program.child.kill('SIGTERM')
    expect(await program.code).toBe(0)
  })

  test('while the service shuts down nothing is read, and the end is the same', async () => {
    const program = await serve(user(9))
    program.child.kill('SIGTERM')
    await until(() => program.log().some(({ msg }) => msg === 'draining'))
    expect(await hangUp(program)).toMatchObject({ level: 40, msg: expect.stringContaining('shutting down') })
    expect(await program.code).toBe(0)
  })
})
