import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { memoryEngines } from '../engines/memory.ts'
import type { Plan } from '../plan.ts'
import { figure, range, scaled } from '../report/figures.ts'
import type { BarChart, Outcome, Table } from '../report/outcome.ts'
import { interleave, ratio, type Series, spread } from '../rounds.ts'

const PROGRAM = fileURLToPath(new URL('./memory-process.js', import.meta.url))
const MANY = 100_000
const [OURS, FLEXIBLE] = ['tidegate `limitSync`', 'rate-limiter-flexible']
const NAMES = Object.keys(memoryEngines)

/** No network: a hot key that is mostly refused, and many keys that are mostly admitted. */
export async function measureMemory(plan: Plan): Promise<Outcome> {
  const hot = await measureKeys(1, plan)
  const many = await measureKeys(MANY, plan)
  const of = (results: readonly Series[], name: string) => results.find((series) => series.name === name) as Series
  return {
    findings: [
      { target: 'memoryHot', measured: ratio(of(hot, OURS), of(hot, FLEXIBLE)) },
      { target: 'memoryMany', measured: ratio(of(many, OURS), of(many, FLEXIBLE)) },
    ],
    tables: [describe('Memory, one hot key, 1000 in 60 s', hot), describe('Memory, 100k keys, 1000 in 60 s', many)],
    charts: { 'memory-hot.svg': draw('Memory, one hot key', hot), 'memory-many.svg': draw('Memory, 100k keys', many) },
  }
}

async function measureKeys(keys: number, plan: Plan): Promise<Series[]> {
  const processes: ChildProcess[] = []
  try {
    const contestants = []
    for (const name of NAMES) {
      const engine = fork(PROGRAM, [name, String(keys)])
      processes.push(engine)
      await once(engine, 'message')
      contestants.push({ name, measure: () => ask(engine, plan.seconds) })
    }
    return await interleave(contestants, plan.rounds)
  } finally {
    for (const engine of processes) engine.disconnect()
  }
}

function ask(engine: ChildProcess, seconds: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('a process of the benchmark ended early'))
    engine.once('exit', ended)
    engine.once('message', (rate) => {
      engine.off('exit', ended)
      resolve(Number(rate))
    })
    engine.send(seconds)
  })
}

function describe(title: string, results: readonly Series[]): Table {
  const ours = results.find(({ name }) => name === OURS) as Series
  const rows = results.map((series) => {
    const rate = scaled(spread(series.values), 1e-6)
    return [
      series.name,
      figure(rate.median),
      range(rate),
      series === ours ? '1x' : `${figure(ratio(ours, series).median)}x`,
    ]
  })
  return { title, head: ['engine', 'M decisions/s', 'least to most', `${OURS} is`], rows }
}

function draw(title: string, results: readonly Series[]): BarChart {
  const bars = results
    .filter(({ name }) => !name.includes('alone'))
    .map(({ name, values }) => {
      const isOurs = name.startsWith('tidegate')
      return {
        name: name.replaceAll('`', '').replace(/^clock.*/, 'the least there is'),
        measured: scaled(spread(values), 1e-6),
        isOurs,
      }
    })
  return { title: `${title}: million decisions a second`, unit: 'M/s', bars }
}
