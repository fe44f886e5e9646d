/**
 * Prints `N passed, N failed`: `node count.mjs <vitest's JSON report> <its exit status> <failed steps>`.
 *
 * A skipped test counts as failed, unless allowed-skips.json gives the reason. A file that could not be loaded, a
 * run that failed without a failed test and a report that is not there count as one failure each.
 */
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const [reportPath, testsStatus, failedSteps] = process.argv.slice(2)
const allowed = JSON.parse(readFileSync(join(import.meta.dirname, 'allowed-skips.json'), 'utf8'))

function isAllowed(file, name) {
  return allowed.some((skip) => skip.file === file && skip.test === name && skip.reason.length > 0)
}

function readReport() {
  try {
    return JSON.parse(readFileSync(reportPath, 'utf8'))
  } catch {
    return undefined
  }
}

let passed = 0
let failed = 0
const report = readReport()
for (const { name, status, assertionResults } of report?.testResults ?? []) {
  const file = relative(process.cwd(), name)
  if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) failed++
  for (const test of assertionResults) {
    if (test.status === 'passed') passed++
    else if (test.status === 'failed') failed++
    else if (!isAllowed(file, test.fullName)) {
      failed++
      console.error(`Skipped without a listed reason: ${file}: ${test.fullName}`)
    }
  }
}
if (failed === 0 && (testsStatus !== '0' || passed === 0)) failed++
failed += Number(failedSteps)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
