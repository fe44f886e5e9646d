import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadLimits } from './limits.ts'
import { ServedLimits } from './served-limits.ts'

let folder: string
let served: ServedLimits | undefined
const logged: { msg: string; problems?: string[] }[] = []
const reloads = { accepted: 0, refused: 0 }
const logger = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) })

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidegate-served-'))
  logged.length = 0
})
afterEach(() => {
  served?.close()
  rmSync(folder, { recursive: true })
})

const text = (requests: number) =>
  `domain: d\ndescriptors:\n  - { key: a, rate_limit: { unit: day, requests_per_unit: ${requests} } }\n`

function serving(): ServedLimits {
  const loaded = loadLimits(folder)
  if ('problems' in loaded) throw new Error(loaded.problems.join())
  reloads.accepted = reloads.refused = 0
  served = new ServedLimits(folder, {}, loaded.limits, logger, (result) => reloads[result]++)
  return served
}

function limit({ now }: ServedLimits): number | undefined {
  return now.domains.get('d')?.children.get('a')?.limit?.requestsPerUnit
}

test('a changed file is served', () => {
  writeFileSync(join(folder, 'a.yaml'), text(1))
  const limits = serving()
  limits.look()
  expect([limit(limits), reloads.accepted]).toEqual([1, 0])
  writeFileSync(join(folder, 'a.yaml'), text(20))
  limits.look()
  expect([limit(limits), reloads.accepted]).toEqual([20, 1])
})

test('a link that is swapped, as Kubernetes does it', () => {
  for (const [name, requests] of [
    ['..1', 1],
    ['..2', 2],
  ] as const) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'a.yaml'), text(requests))
  }
  symlinkSync('..1', join(folder, '..data'))
  symlinkSync('..data/a.yaml', join(folder, 'a.yaml'))
  const limits = serving()
  symlinkSync('..2', join(folder, '..tmp'))
  renameSync(join(folder, '..tmp'), join(folder, '..data'))
  limits.look()
  expect(limit(limits)).toBe(2)
})

test('where a file is wrong, or gone, what was served before still is; and the log says why', () => {
  writeFileSync(join(folder, 'a.yaml'), text(1))
  const limits = serving()
  writeFileSync(join(folder, 'a.yaml'), 'domain: d\nwrong: 1\n')
  limits.look()
  limits.look()
  expect([limit(limits), reloads.refused]).toEqual([1, 1])
  expect(logged.at(-1)?.problems).toEqual([expect.stringMatching(/a\.yaml:2:1: wrong does not exist/)])
  rmSync(join(folder, 'a.yaml'))
  limits.look()
  expect([limit(limits), reloads.refused]).toEqual([1, 2])
  writeFileSync(join(folder, 'a.yaml'), text(3))
  limits.look()
  expect(limit(limits)).toBe(3)
})
