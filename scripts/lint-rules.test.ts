import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/**
 * Proves that the lint rules which hold the architecture do hold it: files that break them, and
 * controls that do not, are written into a folder laid out like the repository, and the linter runs
 * once over all of them with the repository's own configuration.
 */
const root = join(import.meta.dirname, '..')
const library = 'packages/tidegate/src'
const server = 'packages/server/src'
const restricted = 'lint/style/noRestrictedImports'

/** Who may not, and who may, import what. One file per entry. */
const imports: { file: string; refused: string[]; admitted: string[] }[] = [
  ...['errors', 'options', 'duration', 'clock', 'key', 'sha256', 'decision', 'rule', 'one-that-is-new'].map((leaf) => ({
    file: `${library}/${leaf}.ts`,
    refused: [
      './algorithms/algorithm.ts',
      './algorithms/bucket/bucket.ts',
      './stores/store.ts',
      './stores/memory/memory-store.ts',
      './limiter.ts',
      './gate.ts',
      './http/headers.ts',
      './index.ts',
      'node:crypto',
      'fast-check',
    ],
    admitted: ['./leaf.ts'],
  })),
  {
    file: `${library}/algorithms/algorithm.ts`,
    refused: [
      '../stores/store.ts',
      '../limiter.ts',
      '../gate.ts',
      '../http/headers.ts',
      '../index.ts',
      'node:fs',
      'zod',
    ],
    admitted: ['../decision.ts', './bucket/bucket.ts'],
  },
  {
    file: `${library}/algorithms/bucket/bucket.ts`,
    refused: [
      '../../stores/memory/memory-store.ts',
      '../../limiter.ts',
      '../../gate.ts',
      '../../http/index.ts',
      '../../index.ts',
      'node:fs',
      'zod',
    ],
    admitted: ['../../decision.ts', '../algorithm.ts'],
  },
  {
    file: `${library}/stores/store.ts`,
    refused: ['../limiter.ts', '../gate.ts', '../http/headers.ts', '../index.ts', 'node:fs', 'zod'],
    admitted: ['../key.ts', './redis/batch.ts'],
  },
  {
    file: `${library}/stores/redis/batch.ts`,
    refused: [
      '../../limiter.ts',
      '../../gate.ts',
      '../../http/index.ts',
      '../../index.ts',
      'node:net',
      'ioredis',
      'redis',
    ],
    admitted: ['../../algorithms/algorithm.ts', '../store.ts', './script.ts'],
  },
  ...['limiter', 'gate'].map((file) => ({
    file: `${library}/${file}.ts`,
    refused: ['./http/headers.ts', './index.ts', 'node:fs', 'zod'],
    admitted: ['./stores/store.ts', './rule.ts', './stores/memory/memory-store.ts', './local/acquire.ts'],
  })),
  {
    file: `${library}/local/acquire.ts`,
    refused: [
      '../limiter.ts',
      '../gate.ts',
      '../http/headers.ts',
      '../index.ts',
      '../algorithms/quota.ts',
      'node:timers',
    ],
    admitted: ['../stores/store.ts', '../decision.ts', './timer.ts'],
  },
  {
    file: `${library}/http/headers.ts`,
    refused: ['node:http', 'http', 'express', 'fastify/types/hooks.js', '@scope/name', '@scope/name/deep'],
    admitted: ['../limiter.ts', '../gate.ts', '../decision.ts'],
  },
  {
    file: `${library}/adapters/express.ts`,
    refused: [
      'node:http',
      'koa-router',
      'express/lib/router',
      '../stores/store.ts',
      '../index.ts',
      '../algorithms/slab.ts',
    ],
    admitted: ['express', 'fastify', '@nestjs/common', '../http/request-limit.ts', '../limiter.ts', './node.ts'],
  },
  {
    file: `${library}/compat/express-rate-limit.ts`,
    refused: ['express-rate-limit', 'express', 'node:timers'],
    admitted: ['../limiter.ts', '../http/dimension.ts', './hit-counts.ts'],
  },
  {
    file: `${library}/a-folder-that-is-new/file.ts`,
    refused: ['node:fs', 'zod'],
    admitted: ['../rule.ts'],
  },
  {
    file: `${library}/stores/redis/batch.test.ts`,
    refused: [],
    admitted: ['node:net', 'vitest', '../../limiter.ts'],
  },
  {
    file: `${server}/main.ts`,
    refused: [
      '../../tidegate/src/index.ts',
      '../../tidegate/dist/index.js',
      'tidegate/src/key.ts',
      'tidegate/dist/key.js',
    ],
    admitted: ['tidegate', 'tidegate/redis', 'fastify', 'node:fs', './tidegate.ts'],
  },
  {
    file: `${server}/http/routes/limit.ts`,
    refused: ['../../../../tidegate/src/index.ts', '../../../../../packages/tidegate/src/index.ts'],
    admitted: ['tidegate', '../tidegate.ts'],
  },
]

/** Everything else: `rule` is what must be reported for the file, and `null` that nothing may be. */
const others: { what: string; file: string; source: string[]; rule: string | null }[] = [
  {
    what: 'a package is not imported on demand either',
    file: `${library}/http/on-demand.ts`,
    source: ["export const zod = () => import('zod')"],
    rule: restricted,
  },
  {
    what: 'a package is not passed on either',
    file: `${library}/http/passed-on.ts`,
    source: ["export { z } from 'zod'"],
    rule: restricted,
  },
  {
    what: 'a promise is not left floating',
    file: `${server}/floating.ts`,
    source: [
      'async function send(): Promise<number> {',
      '  return 1',
      '}',
      'export function forget(): void {',
      '  send()',
      '}',
    ],
    rule: 'lint/nursery/noFloatingPromises',
  },
  {
    what: 'a promise made in another file is not left floating',
    file: `${server}/floating-imported.ts`,
    source: ["import { wait } from './promising.ts'", 'export function forget(): void {', '  wait()', '}'],
    rule: 'lint/nursery/noFloatingPromises',
  },
  {
    what: 'a promise that is awaited passes',
    file: `${server}/promising.ts`,
    source: ['export async function wait(): Promise<number> {', '  return 1', '}', 'await wait()'],
    rule: null,
  },
  {
    what: 'imports do not go round',
    file: `${library}/resilience/chicken.ts`,
    source: ["import { egg } from './egg.ts'", 'export const chicken = () => egg()'],
    rule: 'lint/suspicious/noImportCycles',
  },
  {
    what: 'imports do not go round, seen from the other side',
    file: `${library}/resilience/egg.ts`,
    source: ["import { chicken } from './chicken.ts'", 'export const egg = (): unknown => chicken()'],
    rule: 'lint/suspicious/noImportCycles',
  },
  {
    what: 'any is not used',
    file: `${server}/any.ts`,
    source: ['export const open = (value: any) => value'],
    rule: 'lint/suspicious/noExplicitAny',
  },
  {
    what: 'a type is imported as a type',
    file: `${server}/type.ts`,
    source: ["import { Rule } from 'tidegate'", 'export type Mine = Rule'],
    rule: 'lint/style/useImportType',
  },
  {
    what: 'nothing is exported as default',
    file: `${server}/default.ts`,
    source: ['export default 1'],
    rule: 'lint/style/noDefaultExport',
  },
  {
    what: 'a config file may export as default',
    file: 'packages/server/vitest.config.ts',
    source: ['export default {}'],
    rule: null,
  },
  {
    what: 'an import is used',
    file: `${server}/unused-import.ts`,
    source: ["import { createGate } from 'tidegate'"],
    rule: 'lint/correctness/noUnusedImports',
  },
  {
    what: 'a variable is used',
    file: `${server}/unused-variable.ts`,
    source: ['const forgotten = 1', 'export {}'],
    rule: 'lint/correctness/noUnusedVariables',
  },
  {
    what: 'a generated file is left out',
    file: `${library}/stores/redis/scripts.generated.ts`,
    source: ['const forgotten: any = 1', 'export default 1'],
    rule: null,
  },
]

let folder = ''
const found = new Map<string, { rule: string; line: number }[]>()

/** Each specifier has a line of its own, so that a diagnostic's line says which one it is about. */
function importing(specifiers: readonly string[]): string {
  const lines = specifiers.map((specifier, i) => `import type { It as It${i} } from '${specifier}'`)
  return [...lines, `export type All = [${specifiers.map((_, i) => `It${i}`).join(', ')}]`, ''].join('\n')
}

function write(file: string, source: string): void {
  mkdirSync(join(folder, dirname(file)), { recursive: true })
  writeFileSync(join(folder, file), source)
}

interface Report {
  summary: { errors: number }
  diagnostics: { category: string; severity: string; location: { path: string; start: { line: number } } }[]
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidegate-lint-'))
  cpSync(join(root, 'biome.json'), join(folder, 'biome.json'))
  for (const { file, refused, admitted } of imports) write(file, importing([...refused, ...admitted]))
  for (const { file, source } of others) write(file, `${source.join('\n')}\n`)
  const biome = join(root, 'node_modules/.bin/biome')
  const options = ['lint', '--reporter=json', '--max-diagnostics=none', '--vcs-enabled=false', '.']
  const { stdout, stderr } = spawnSync(biome, options, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (!stdout.startsWith('{')) throw new Error(`the linter gave no report: ${stderr}`)
  for (const { category, severity, location } of (JSON.parse(stdout) as Report).diagnostics) {
    if (severity !== 'error' && severity !== 'warning') continue
    const list = found.get(location.path) ?? []
    list.push({ rule: category, line: location.start.line })
    found.set(location.path, list)
  }
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('imports run one way', () => {
  it.each(imports)('$file', ({ file, refused, admitted }) => {
    const specifiers = [...refused, ...admitted]
    const reported = (found.get(file) ?? []).filter(({ rule }) => rule === restricted)
    expect(reported.map(({ line }) => specifiers[line - 1]).sort()).toEqual([...refused].sort())
  })
})

describe('the other rules', () => {
  it.each(others)('$what', ({ file, rule }) => {
    const rules = new Set((found.get(file) ?? []).map((diagnostic) => diagnostic.rule))
    if (rule === null) expect([...rules]).toEqual([])
    else expect([...rules]).toContain(rule)
  })
})
