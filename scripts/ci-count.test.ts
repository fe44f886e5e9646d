import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

/** The last line of CI: what it says, and with which exit status, of a report and of what else happened. */
let folder = ''

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidegate-count-')))
  mkdirSync(join(folder, '.ci'))
  cpSync(join(import.meta.dirname, '../.ci/count.mjs'), join(folder, '.ci/count.mjs'))
  allow([])
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

function allow(skips: { file: string; test: string; reason: string }[]): void {
  writeFileSync(join(folder, '.ci/allowed-skips.json'), JSON.stringify(skips))
}

function count(report: string | string[] | null, testsStatus: number, failedSteps: number) {
  const path = join(folder, 'report.json')
  const tests = Array.isArray(report) ? report.map((status, i) => ({ status, fullName: `suite test ${i}` })) : []
  const status = tests.some((test) => test.status === 'failed') || tests.length === 0 ? 'failed' : 'passed'
  const testResults = [{ name: join(folder, 'a.test.ts'), status, assertionResults: tests }]
  if (report !== null) writeFileSync(path, Array.isArray(report) ? JSON.stringify({ testResults }) : report)
  const options = { cwd: folder, encoding: 'utf8' } as const
  const result = spawnSync(process.execPath, ['.ci/count.mjs', path, `${testsStatus}`, `${failedSteps}`], options)
  return [result.stdout, result.status]
}

describe('the counts that CI ends with', () => {
  it.each([
    ['all passed', ['passed', 'passed'], 0, 0, 2, 0],
    ['one failed', ['passed', 'failed'], 1, 0, 1, 1],
    ['steps failed', ['passed', 'passed'], 0, 2, 2, 2],
    ['a test and a step failed', ['passed', 'failed'], 1, 1, 1, 2],
    ['one skipped', ['passed', 'skipped'], 0, 0, 1, 1],
    ['one pending', ['passed', 'pending'], 0, 0, 1, 1],
    ['one to do', ['passed', 'todo'], 0, 0, 1, 1],
    ['a file that could not be loaded', [], 1, 0, 0, 1],
    ['all passed, and yet the run failed', ['passed'], 1, 0, 1, 1],
    ['no report', null, 1, 0, 0, 1],
    ['no report, though the run says it went well', null, 0, 0, 0, 1],
    ['half a report', '{"testResults":[', 0, 0, 0, 1],
    ['an empty report', '{}', 0, 0, 0, 1],
  ])('%s', (_, report, testsStatus, failedSteps, passed, failed) => {
    expect(count(report, testsStatus, failedSteps)).toEqual([
      `${passed} passed, ${failed} failed\n`,
      failed === 0 ? 0 : 1,
    ])
  })

  it('leave out a skip that is listed with its reason, and no other', () => {
    allow([{ file: 'a.test.ts', test: 'suite test 1', reason: 'needs a kernel that CI does not have' }])
    expect(count(['passed', 'skipped'], 0, 0)).toEqual(['1 passed, 0 failed\n', 0])
    expect(count(['skipped', 'passed'], 0, 0)).toEqual(['1 passed, 1 failed\n', 1])
    allow([{ file: 'a.test.ts', test: 'suite test 1', reason: '' }])
    expect(count(['passed', 'skipped'], 0, 0)).toEqual(['1 passed, 1 failed\n', 1])
  })
})
