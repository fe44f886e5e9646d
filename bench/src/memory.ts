import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Outcome, Reference } from './findings.ts'
import { ENGINES, type EngineName } from './memory-engines.ts'
import type { Plan } from './plan.ts'
import { interleave, ratio, type Series, spread } from './rounds.ts'

const PROGRAM = fileURLToPath(new URL('./memory-process.js', import.meta.url))
const MANY = 100_000
const TITLES: Record<EngineName, string> = {
  sync: 'tidegate `limitSync`',
  flexible: 'rate-limiter-flexible',
  awaited: 'tidegate `await limit`',
  clock: 'Date.now() alone',
  map: 'Map.get alone',
  floor: 'clock, Map.get, 64 bytes of state, an answer',
}

/** No network: a hot key that is mostly refused, and many keys that are mostly admitted. */
export async function measureMemory(plan: Plan): Promise<Outcome> {
  const hot = await measureKeys(1, plan, { ours: 4_000_000, theirs: 400_000 })
  const many = await measureKeys(MANY, plan, { ours: 500_000, theirs: 500_000 })
  return {
    findings: [
      { target: 'memoryHot', measured: ratio(hot.sync, hot.flexible) },
      { target: 'memoryMany', measured: ratio(many.sync, many.flexible) },
    ],
    references: [...describe('hot key', hot), ...describe('100k keys', many)],
  }
}

type Results = Record<EngineName, Series>

async function measureKeys(keys: number, plan: Plan, decisions: { ours: number; theirs: number }): Promise<Results> {
  const processes: ChildProcess[] = []
  try {
    const contestants = ENGINES.map((name) => {
      const engine = fork(PROGRAM, [name, String(keys)])
      processes.push(engine)
      const count = Math.round((name === 'flexible' ? decisions.theirs : decisions.ours) * plan.scale)
      return { name, measure: () => ask(engine, count) }
    })
    const series = await interleave(contestants, plan.rounds)
    return Object.fromEntries(ENGINES.map((name, i) => [name, series[i]])) as Results
  } finally {
    for (const engine of processes) engine.disconnect()
  }
}

function ask(engine: ChildProcess, decisions: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('a process of the benchmark ended early'))
    engine.once('exit', ended)
    engine.once('message', (rate) => {
      engine.off('exit', ended)
      resolve(Number(rate))
    })
    engine.send(decisions)
  })
}

function describe(keys: string, results: Results): Reference[] {
  return ENGINES.map((name) => {
    const measured = spread(results[name].values.map((value) => value / 1e6))
    return { what: `Memory, ${keys}: ${TITLES[name]}`, measured, unit: 'M/s' }
  })
}
