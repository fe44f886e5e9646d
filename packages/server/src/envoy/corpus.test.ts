import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { type Found, findLimit } from './find-limit.ts'
import { type Limits, loadLimits } from './limits.ts'

/** Configurations written from the documented rules of envoyproxy/ratelimit: good ones, and one for each mistake. */
const corpus = fileURLToPath(new URL('../../../conformance/data/ratelimit', import.meta.url))
const refused = JSON.parse(readFileSync(join(corpus, 'refused.json'), 'utf8')) as Record<string, string[]>
const valid = readdirSync(join(corpus, 'valid'))

const folder = mkdtempSync(join(tmpdir(), 'tidegate-corpus-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('each file of mistakes has what is expected of it', () => {
  expect(readdirSync(join(corpus, 'refused')).sort()).toEqual(Object.keys(refused).sort())
  expect(valid.length).toBeGreaterThan(10)
})

test.each(Object.entries(refused))('%s is refused for what is wrong with it, and where', (name, expected) => {
  const file = join(corpus, 'refused', name)
  const loaded = loadLimits(file)
  expect('problems' in loaded && loaded.problems).toEqual(expected.map((problem) => `${file}:${problem}`))
  expect(expected.length).toBeGreaterThan(0)
})

/** A comment such as `# shop user=u1,path=/a -> shop.user 5 MINUTE`. */
const EXPECTATION = /^# (?:"([^"]+)"|(\S+)) (\S+=\S*) -> (.+)$/gm

describe.each(valid)('%s', (name) => {
  const file = join(corpus, 'valid', name)
  const loaded = loadLimits(file)
  const expectations = [...readFileSync(file, 'utf8').matchAll(EXPECTATION)]

  test('is accepted, and says what it is to do', () => {
    expect('problems' in loaded && loaded.problems).toBe(false)
    expect(expectations.length).toBeGreaterThan(0)
  })

  test.each(expectations.map(([, quoted, plain, entries, outcome]) => [quoted ?? plain, entries, outcome]))(
    '%s %s -> %s',
    (domain = '', text = '', outcome = '') => {
      const entries = text.split(',').map((pair) => {
        const [key = '', value = ''] = pair.split('=')
        return { key, value }
      })
      const root = 'limits' in loaded ? loaded.limits.domains.get(domain) : undefined
      const found = root && findLimit(root, domain, entries)
      expect(outcomeOf(found, outcome)).toBe(outcome)
    },
  )
})

/** What was found, with as much of it as the file speaks of. */
function outcomeOf(found: Found | undefined, expected: string): string {
  if (found === undefined) return 'none'
  const { path, requestsPerUnit, unit = '-', unlimited, shadowMode, quotaMode, rule } = found.limit
  if (unlimited) return `${path} unlimited`
  const counted = found.counted.map(({ key, value }) => `${key}=${value}`).join(',')
  return [
    path,
    requestsPerUnit,
    unit,
    ...(shadowMode ? ['shadow'] : []),
    ...(quotaMode ? ['quota'] : []),
    ...(rule?.algorithm === 'fixed-window' ? [] : [rule?.algorithm]),
    ...(expected.includes(' counted ') ? ['counted', counted] : []),
    ...(expected.includes(' metric ') ? ['metric', found.metric] : []),
  ].join(' ')
}

describe('a folder', () => {
  const one = 'domain: one\ndescriptors:\n  - { key: a, rate_limit: { unit: day, requests_per_unit: 1 } }\n'
  let made = 0

  function folderWith(files: Record<string, string>): string {
    const path = join(folder, String(made++))
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(path, name, '..'), { recursive: true })
      writeFileSync(join(path, name), text)
    }
    return path
  }

  test('all its files are read, those of folders in it too, whatever their names end with', () => {
    const loaded = loadLimits(folderWith({ 'b.yaml': one, 'sub/a.conf': one.replace('one', 'two'), '.hidden': 'x: 1' }))
    expect('limits' in loaded && [...loaded.limits.domains.keys()]).toEqual(['one', 'two'])
  })

  test('as Kubernetes makes it: links to a folder whose name begins with a dot', () => {
    const path = folderWith({ '..2026/limits.yaml': one })
    symlinkSync('..2026', join(path, '..data'))
    symlinkSync('..data/limits.yaml', join(path, 'limits.yaml'))
    expect(domains(loadLimits(path))).toEqual(['one'])
  })

  test('a domain in two files is refused, or its descriptors are put together', () => {
    const path = folderWith({ 'a.yaml': one, 'b.yaml': one.replace('key: a', 'key: b') })
    expect(loadLimits(path)).toEqual({
      problems: [`${path}/b.yaml: the domain "one" is in another file, expected each domain once`],
    })
    const loaded = loadLimits(path, { mergeDomains: true })
    const root = 'limits' in loaded ? loaded.limits.domains.get('one') : undefined
    expect([...(root?.children.keys() ?? [])]).toEqual(['a', 'b'])
  })

  test('put together, the same key and value in two files is refused', () => {
    const path = folderWith({ 'a.yaml': one, 'b.yaml': one })
    expect(loadLimits(path, { mergeDomains: true })).toEqual({
      problems: [`${path}/b.yaml: one.a is in another file, expected each key and value once in a list`],
    })
  })

  test('all that is wrong with all files is listed', () => {
    const path = folderWith({ 'a.yaml': 'domain: a\nx: 1\n', 'b.yaml': 'descriptors: []\n', 'c.yaml': one })
    const loaded = loadLimits(path)
    expect(
      'problems' in loaded && loaded.problems.map((problem) => problem.slice(path.length, path.length + 12)),
    ).toEqual(['/a.yaml:2:1: ', '/b.yaml:1:1: '].map((text) => text.slice(0, 12)))
  })

  test('none, an empty one, and one that is not there are refused', () => {
    const empty = folderWith({})
    mkdirSync(empty)
    expect(loadLimits(empty)).toEqual({ problems: [`${empty}: holds no file, expected at least one`] })
    expect(loadLimits('/no/such')).toEqual({
      problems: ['/no/such: cannot be read (ENOENT), expected a file or a folder'],
    })
  })

  test('the version is that of the content', () => {
    const path = folderWith({ 'a.yaml': one })
    const before = loadLimits(path)
    cpSync(join(path, 'a.yaml'), join(path, 'copy'))
    rmSync(join(path, 'copy'))
    expect(loadLimits(path)).toMatchObject({ limits: { version: 'limits' in before && before.limits.version } })
    writeFileSync(join(path, 'a.yaml'), one.replace('1 }', '2 }'))
    expect(loadLimits(path)).not.toMatchObject({ limits: { version: 'limits' in before && before.limits.version } })
  })
})

function domains(loaded: { limits: Limits } | { problems: string[] }): string[] {
  return 'limits' in loaded ? [...loaded.limits.domains.keys()] : loaded.problems
}
