import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { findPart, howToInstall, type Service, startRedis } from '@tidegate/conformance/services'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ServingProgram, until, Workplace } from '../testing/program.ts'

const skipped = findPart('redis-server') === undefined
const COUNT = 2
const RULES =
  'store: { deadlineMs: 30000 }\nrules: [{ name: one, key: [user], limit: 1000000, window: 1h, overrides: [{ user: never, limit: 0 }] }]'

const workplace = new Workplace()
afterAll(() => workplace.close())

/** One request over a connection of its own, or over that of the agent; its status, or the code of its error. */
function ask(url: string, agent = new Agent(), user = 'u'): Promise<number | string> {
  return new Promise((resolve) => {
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, agent }
    const sent = request(`${url}/v1/limit`, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode as number))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.end(JSON.stringify({ descriptor: { user } }))
  })
}

/** The workers that have begun to listen, by their process ids. */
const pids = ({ log }: ServingProgram) => log().flatMap(({ msg, pid }) => (msg === 'listening' ? [pid as number] : []))
const seen = ({ log }: ServingProgram, msg: string) => log().filter((line) => line['msg'] === msg)

test('counts in memory are refused: each worker would count apart', async () => {
  const { code, stderr } = await workplace.finished('serve', '--workers', '4')
  expect([code, stderr]).toEqual([1, expect.stringContaining('--workers: expected --redis as well')])
})

describe.skipIf(skipped)(`workers ${skipped ? howToInstall('redis-server') : ''}`, { timeout: 120_000 }, () => {
  let redis: Service
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop('SIGKILL'))

  async function serving(): Promise<ServingProgram> {
    const config = workplace.file('rules.yaml', RULES)
    const url = `redis://127.0.0.1:${redis.port}`
    return workplace.serving('--workers', String(COUNT), '--config', config, '--redis', url)
  }
  // A start takes seconds where much else runs: the tests follow each other on one service, until the last ends it.
  let program: ServingProgram
  beforeAll(async () => {
    program = await serving()
  }, 90_000)

  const metrics = async (url: string) => (await fetch(`${url}/metrics`)).text()
  const rulesOf = async (url: string): Promise<string> => {
    const answer = await fetch(`${url}/v1/rules`, { headers: { connection: 'close' } })
    return ((await answer.json()) as { rules: { name: string }[] }).rules.map(({ name }) => name).join()
  }
  /** As each worker has them: connections go round. */
  const allRules = async (url: string) => {
    const names = new Set<string>()
    for (let i = 0; i < 3 * COUNT; i++) names.add(await rulesOf(url))
    return [...names]
  }

  test('serve on one port with one view of what is measured', async () => {
    await until(() => new Set(pids(program)).size === COUNT)
    for (let i = 0; i < 30; i++) expect(await ask(program.url)).toBe(200)
    const text = await metrics(program.url)
    expect(text).toContain('tidegate_decisions_total{rule="one",outcome="allowed",source="store"} 30\n')
    expect(text).toContain(`tidegate_workers ${COUNT}\n`)
    expect(text).toMatch(/^tidegate_config_info\{source="rules",version="\w+"\} 1$/m)
  })

  test('events of all are told by each', async () => {
    const leave = new AbortController()
    const answer = await fetch(`${program.url}/v1/events`, { signal: leave.signal })
    let text = ''
    const read = (async () => {
      for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>)
        text += Buffer.from(chunk).toString()
    })().catch(() => undefined)
    await until(() => text.includes('retry'))
    for (let i = 0; i < 4; i++) expect(await ask(program.url, undefined, 'never')).toBe(429)
    await until(() => text.split('event: denial').length === 5)
    const from = [...text.matchAll(/^id: \d+-(\d+)-/gm)].map(([, pid]) => pid)
    expect(new Set(from).size).toBe(COUNT)
    leave.abort()
    await read
  })

  test('rules that are put reach all, and one that is started again for one that died; SIGHUP has all read the file again', async () => {
    const { url, child } = program
    const rules = [{ name: 'two', key: ['user'], limit: 500, window: '1h' }]
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ rules }) }
    expect((await fetch(`${url}/v1/rules`, init)).status).toBe(200)
    expect(await allRules(url)).toEqual(['two'])
    const begun = pids(program)
    process.kill(begun[0] as number, 'SIGKILL')
    await until(() => seen(program, 'a worker has died; it is started again').length === 1)
    for (let i = 0; i < 10; i++) expect(await ask(url)).toBe(200)
    await until(() => pids(program).length === begun.length + 1)
    expect(await allRules(url)).toEqual(['two'])
    expect(await metrics(url)).toContain(`tidegate_workers ${COUNT}\n`)
    child.kill('SIGHUP')
    await until(() => seen(program, 'the configuration file was read again: 1 added, 1 removed').length === COUNT)
    expect(await allRules(url)).toEqual(['one'])
  })

  test('a port that is taken is told once', async () => {
    const port = new URL(program.url).port
    const store = `redis://127.0.0.1:${redis.port}`
    const { code, stderr } = await workplace.finished('serve', '--workers', '3', '--redis', store, '--http', port)
    expect([code, stderr.match(/cannot listen/g)?.length]).toEqual([1, 1])
  })

  test('SIGTERM fails no request, and all have ended when the first process has', async () => {
    const { url, child, code } = program
    const answers: (number | string)[] = []
    const clients = Array.from({ length: 12 }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      for (;;) {
        const answer = await ask(url, agent)
        if (answer === 'ECONNREFUSED') return
        answers.push(answer)
      }
    })
    await until(() => answers.length > 200)
    child.kill('SIGTERM')
    await Promise.all(clients)
    expect([await code, program.output.stderr]).toEqual([0, expect.not.stringContaining('Error')])
    expect(answers.filter((answer) => answer !== 200)).toEqual([])
    expect(pids(program).filter((pid) => isAlive(pid))).toEqual([])
  })

  test('a second signal ends all at once', async () => {
    const { url, child, code, log } = await serving()
    const hanging = request(`${url}/v1/limit`, { method: 'POST', headers: { 'content-length': 17 } })
    hanging.on('error', () => undefined).write('{')
    await once(hanging, 'socket')
    child.kill('SIGTERM')
    await until(() => log().some(({ msg }) => msg === 'draining'))
    await new Promise((resolve) => setTimeout(resolve, 150))
    child.kill('SIGINT')
    expect(await code).toBe(1)
    await until(() => !pids({ log } as ServingProgram).some((pid) => isAlive(pid)))
  })
})

function isAlive(pid: number): boolean {
  try {
    // One that has ended can wait for whoever is to take notice of it.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
