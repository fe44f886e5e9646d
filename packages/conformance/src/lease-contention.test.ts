import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeRedis } from './describe-redis.ts'
import { temporaryFolder } from './services/service.ts'
import { waitFor } from './services/wait-for.ts'

const CONTENDER = join(import.meta.dirname, '../dist/lease-contender.js')
const PROCESSES = 8
const DURATION_MS = 8_000
/** The clock of this machine is that of Redis, but what it says is read a moment after the decision, or before. */
const GRAIN_MS = 1

/** One admission: it was decided between the two times, ms since the epoch. */
interface Admitted {
  readonly key: string
  readonly from: number
  readonly to: number
  readonly source: string
}

describeRedis('processes that lease, some of them killed', (redis) => {
  async function contend(keys: number, options: object): Promise<{ admitted: Admitted[]; killed: number }> {
    await redis.client.flushall()
    const folder = await temporaryFolder('leases')
    const files: string[] = []
    const start = () => {
      const file = join(folder, `${files.length}.txt`)
      files.push(file)
      const args = [CONTENDER, String(redis.port), file, String(keys), JSON.stringify(options)]
      return { file, process: spawn(process.execPath, args, { stdio: 'inherit' }) }
    }
    const running = Array.from({ length: PROCESSES }, start)
    // All have been admitted once, however long they take to start on a busy machine.
    await waitFor('an admission of each', async () => running.every(({ file }) => existsSync(file)), 40_000)
    let killed = 0
    const end = Date.now() + DURATION_MS
    while (Date.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 600))
      // One that has something to lose.
      const working = running.filter(({ file }) => existsSync(file))
      const victim = working[Math.floor(Math.random() * working.length)]
      if (victim === undefined) continue
      victim.process.kill('SIGKILL')
      running[running.indexOf(victim)] = start()
      killed++
    }
    const ended = running.map(({ process }) => once(process, 'exit'))
    for (const { process } of running) process.kill('SIGKILL')
    await Promise.all(ended)
    const lines = (await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')))).join('').split('\n')
    // A process that is killed can leave half a line.
    const whole = lines.map((line) => line.split(' ')).filter((parts) => parts.length === 4 && parts[3] !== '')
    const admitted = whole.map(([key, from, to, source]) => {
      return { key, from: Number(from), to: Number(to), source } as Admitted
    })
    return { admitted, killed }
  }

  /** The most that was certainly admitted of one key in any window (t - W, t]. */
  function mostInWindows(admitted: readonly Admitted[], windowMs: number): number {
    let most = 0
    for (const key of new Set(admitted.map((one) => one.key))) {
      const byEnd = admitted.filter((one) => one.key === key).sort((a, b) => a.to - b.to)
      for (const [i, { to }] of byEnd.entries()) {
        let inside = 0
        for (let j = i; j >= 0 && (byEnd[j] as Admitted).to > to - windowMs; j--) {
          if ((byEnd[j] as Admitted).from > to - windowMs + GRAIN_MS) inside++
        }
        most = Math.max(most, inside)
      }
    }
    return most
  }

  /** What the limit would have allowed in the time, of each key that was asked for. */
  function allowed(admitted: readonly Admitted[], limit: number, spanMs: number): number {
    const times = admitted.map(({ from }) => from)
    const lasted = Math.max(...times) - Math.min(...times)
    return new Set(admitted.map(({ key }) => key)).size * limit * (lasted / spanMs)
  }

  for (const keys of [1, 3]) {
    test(`${keys} key(s), exact bound: no window of the recorded times admits more than the limit`, {
      timeout: 120_000,
    }, async () => {
      const [limit, windowMs] = [300, 1_000]
      const { admitted, killed } = await contend(keys, { limit, window: windowMs })
      expect(mostInWindows(admitted, windowMs)).toBeLessThanOrEqual(limit)
      // At least a third is used, though processes are killed with what they hold, on a machine that has better to do.
      expect(admitted.length).toBeGreaterThan(allowed(admitted, limit, windowMs + 50) / 3)
      expect(admitted.filter(({ source }) => source === 'lease').length).toBeGreaterThan(admitted.length / 2)
      expect(killed).toBeGreaterThan(3)
      console.info(
        `${admitted.length} admissions, ${killed} killed, most ${mostInWindows(admitted, windowMs)} of ${limit}`,
      )
    })
  }

  test('slack of 10 %: no window admits more than the limit and a tenth', { timeout: 90_000 }, async () => {
    const [limit, windowMs, slack] = [400, 1_000, 0.1]
    const { admitted, killed } = await contend(1, { limit, window: windowMs, slack })
    const most = mostInWindows(admitted, windowMs)
    expect(most).toBeLessThanOrEqual(limit + limit * slack)
    expect(admitted.length).toBeGreaterThan(allowed(admitted, limit, windowMs) / 3)
    console.info(`${admitted.length} admissions, ${killed} killed, most ${most} of ${limit} + ${limit * slack}`)
  })
})
