/**
 * Installs the Debian packages that tests need and this machine lacks. Services are not started: each test
 * starts its own. Where it cannot install, it says what to run; tests that need the part are then skipped,
 * except in CI (`CI` or `TIDEGATE_REQUIRE_PARTS=1`), where that is a failure.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The binaries that tests run, and the Debian package that brings each. */
const list = JSON.parse(readFileSync(new URL('../packages/conformance/parts.json', import.meta.url), 'utf8'))
const parts = Object.entries(list).map(([binary, name]) => ({ binary, package: name }))

/** Daemons live in /usr/sbin, which is not on everybody's PATH. */
const folders = [...(process.env.PATH ?? '').split(delimiter).filter(Boolean), '/usr/local/sbin', '/usr/sbin', '/sbin']
/** Where a part that is no program is. */
const moduleFolders = ['/usr/lib/nginx/modules']
const policy = '/usr/sbin/policy-rc.d'

/** Debian 12 itself has no Valkey; its backports have. Packages of backports are taken only where nothing else has them. */
const backports = {
  codename: 'bookworm',
  file: '/etc/apt/sources.list.d/tidegate-backports.sources',
  source: `Types: deb
URIs: http://deb.debian.org/debian
Suites: bookworm-backports
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`,
}

function isInstalled(binary) {
  const isModule = binary.endsWith('.so')
  return (isModule ? moduleFolders : folders).some((folder) => {
    try {
      accessSync(join(folder, binary), isModule ? constants.R_OK : constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

function missingParts() {
  return parts.filter(({ binary }) => !isInstalled(binary))
}

function aptGet(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status, error } = spawnSync('apt-get', args, { stdio: ['ignore', 'inherit', 'inherit'], env })
  if (status !== 0) throw new Error(`apt-get ${args[0]} failed${error === undefined ? '' : `: ${error.message}`}`)
}

/** True where apt, as it stands, can install the package. */
function isAvailable(name) {
  const { status, stdout } = spawnSync('apt-cache', ['policy', name], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  return status === 0 && /^\s*Candidate: (?!\(none\))/m.test(stdout)
}

function isBookworm() {
  const release = '/etc/os-release'
  return existsSync(release) && readFileSync(release, 'utf8').includes(`VERSION_CODENAME=${backports.codename}\n`)
}

/** Those of the packages that apt can install, with the backports where they are needed. */
function findPackages(packages) {
  aptGet('update', '-qq')
  if (!packages.every(isAvailable) && isBookworm() && !existsSync(backports.file)) addBackports()
  return packages.filter(isAvailable)
}

function addBackports() {
  writeFileSync(backports.file, backports.source)
  try {
    aptGet('update', '-qq')
  } catch (error) {
    // A source that cannot be read would fail every later update of this machine.
    rmSync(backports.file, { force: true })
    throw error
  }
}

/** Installs with service starts forbidden for as long as it takes, whatever comes of it. */
function install(packages) {
  const forbids = !existsSync(policy)
  const allowAgain = () => {
    if (forbids) rmSync(policy, { force: true })
  }
  // A signal that is listened to ends apt-get, not this process, which still has to clear up.
  const listen = () => undefined
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, listen)
  try {
    if (forbids) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    const found = findPackages(packages)
    if (found.length > 0) aptGet('install', '-y', '-qq', '--no-install-recommends', ...found)
  } finally {
    allowAgain()
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, listen)
  }
}

const missing = missingParts()
if (missing.length > 0) {
  const packages = [...new Set(missing.map((part) => part.package))]
  const command = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`
  const isRequired = Boolean(process.env.CI) || process.env.TIDEGATE_REQUIRE_PARTS === '1'
  let reason
  if (!isInstalled('apt-get')) reason = 'there is no apt-get here'
  else if (process.getuid?.() !== 0) reason = 'installing needs root'
  else {
    console.log(`Installing what tests need: ${packages.join(', ')}`)
    try {
      install(packages)
      const still = missingParts().map(({ binary }) => binary)
      if (still.length > 0) reason = `not there after the installation: ${still.join(', ')}`
    } catch (error) {
      reason = error.message
    }
  }
  if (reason !== undefined) {
    const names = missing.map(({ binary }) => binary).join(', ')
    console.error(`Tests need ${names}: ${reason}. As root on Debian or Ubuntu run\n  ${command}`)
    if (isBookworm()) console.error(`Debian 12 has valkey-server in ${backports.codename}-backports.`)
    if (isRequired) process.exit(1)
    console.error('Until then the tests that need them are skipped.')
  }
}
