import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { satisfies } from 'semver'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { errorCodes } from './errors.ts'

/** What users get: the built package, its manifest and its documents. Needs `npm run build`. */
const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

interface Manifest {
  exports: Record<string, string | { types: string; default: string }>
  scripts?: Record<string, string>
}

const manifest = JSON.parse(read('package.json')) as Manifest & Record<string, unknown>

function filesBelow(folder: string, ending: string): string[] {
  const all = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return all.filter((name) => name.endsWith(ending)).map((name) => join(folder, name))
}

/** Every module that a source imports, re-exports, imports on demand or names in a type. */
function importsOf(source: string): string[] {
  const { importedFiles, typeReferenceDirectives } = ts.preProcessFile(source, true, true)
  return [...importedFiles, ...typeReferenceDirectives].map(({ fileName }) => fileName)
}

describe('the manifest', () => {
  it.each(['dependencies', 'optionalDependencies', 'bundleDependencies', 'bundledDependencies'])('has no %s', (field) =>
    expect(manifest).not.toHaveProperty(field),
  )

  it('asks for no framework: each is optional, and in the range that is tested', () => {
    const { peerDependencies, peerDependenciesMeta, devDependencies } = manifest as unknown as Record<
      'peerDependencies' | 'peerDependenciesMeta' | 'devDependencies',
      Record<string, unknown>
    >
    for (const name of Object.keys(peerDependencies)) {
      expect(peerDependenciesMeta[name], name).toEqual({ optional: true })
      expect(satisfies(devDependencies[name] as string, peerDependencies[name] as string), name).toBe(true)
    }
    expect(Object.keys(peerDependenciesMeta)).toEqual(Object.keys(peerDependencies))
  })

  it('runs nothing when it is installed', () => {
    for (const hook of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(manifest.scripts ?? {}).not.toHaveProperty(hook)
    }
  })
})

/** What an adapter imports of its framework: types, and of Nest what makes a guard and a module. */
const FRAMEWORKS: Record<string, Record<string, readonly string[]>> = {
  'dist/adapters/express': { '.d.ts': ['express'] },
  'dist/adapters/fastify': { '.d.ts': ['fastify'] },
  'dist/adapters/hono': { '.d.ts': ['hono'] },
  'dist/adapters/koa': { '.d.ts': ['koa'] },
  'dist/adapters/nestjs': { '.d.ts': ['@nestjs/common'], '.js': ['@nestjs/common', '@nestjs/core'] },
  'dist/adapters/nestjs-reader': { '.d.ts': ['@nestjs/common'] },
}

describe('the build', () => {
  it.each(['.js', '.d.ts'])('imports nothing but itself in its %s files', (ending) => {
    const files = filesBelow('dist', ending)
    const imports = files.flatMap((file) => importsOf(read(file)).map((specifier) => ({ file, specifier })))
    expect(imports.length).toBeGreaterThan(10)
    const foreign = imports.filter(({ file, specifier }) => {
      if (FRAMEWORKS[file.replace(/(\.d)?\.[jt]s$/, '')]?.[ending]?.includes(specifier)) return false
      // Declarations keep the ending .ts, which stands for .d.ts to TypeScript.
      const path = ending === '.d.ts' ? specifier.replace(/\.ts$/, '.d.ts') : specifier
      return !specifier.startsWith('.') || !existsSync(resolve(root, dirname(file), path))
    })
    expect(foreign).toEqual([])
  })

  it('could not hide a foreign import from the test above', () => {
    const source = "import 'node:fs'\nexport * from 'zod'\nexport const lazy = () => import('x')\n"
    expect(importsOf(source)).toEqual(['node:fs', 'zod', 'x'])
  })
})

describe('the exports', () => {
  const entries = Object.entries(manifest.exports)
  const modules = entries.flatMap(([name, target]) => (typeof target === 'string' ? [] : [{ name, target }]))

  it('name files that exist', () => {
    const targets = entries.flatMap(([, target]) => (typeof target === 'string' ? [target] : Object.values(target)))
    expect(targets.length).toBeGreaterThan(4)
    expect(targets.filter((target) => !existsSync(join(root, target)))).toEqual([])
  })

  it.each([
    ['.', ['TidegateError', 'createGate', 'createLimiter', 'errorCodes', 'memoryStore']],
    ['./redis', ['redisStore']],
    ['./remote', ['remoteStore', 'storeService']],
    ['./http', ['rateLimitHeaders', 'RequestLimit', 'clientOf']],
    ['./express', ['rateLimit']],
    ['./fastify', ['rateLimit']],
    ['./koa', ['rateLimit']],
    ['./hono', ['rateLimit']],
    ['./nestjs', ['rateLimit', 'RateLimitModule', 'RateLimitGuard', 'RateLimitException', 'Limit', 'SkipLimit']],
    ['./fetch', ['rateLimit', 'limitFetch']],
    ['./node', ['rateLimit']],
    ['./prometheus', ['prometheusObserver']],
    ['./opentelemetry', ['openTelemetryObserver']],
    ['./stores/express-rate-limit', ['expressRateLimitStore']],
    ['./stores/fastify-rate-limit', ['fastifyRateLimitStore']],
    ['./stores/nestjs-throttler', ['throttlerStorage']],
    ['./stores/hono-rate-limiter', ['honoRateLimiterStore']],
    ['./store', ['compileRule', 'compileRules', 'encodeKey', 'joinKey']],
  ])('%s imports, and gives what is documented', async (name, documented) => {
    expect(modules.map((module) => module.name)).toContain(name)
    const specifier = name === '.' ? 'tidegate' : `tidegate/${name.slice(2)}`
    const exported = (await import(specifier)) as Record<string, unknown>
    for (const key of documented) expect(exported[key], key).toBeDefined()
    expect(exported).not.toHaveProperty('default')
  })

  it.each(modules)('$name imports by itself in a plain Node', ({ target }) => {
    const script = `const all = await import(${JSON.stringify(join(root, target.default))}); console.log(Object.keys(all).length)`
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(Number(printed)).toBeGreaterThan(0)
  })
})

describe('the tarball', () => {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  })
  const [packed] = Object.values(JSON.parse(output) as Record<string, { files: { path: string }[] }>)
  const paths = (packed?.files ?? []).map(({ path }) => path)

  it('holds the licence, the readme and every file that the exports name', () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    )
    const wanted = ['LICENSE', 'README.md', ...targets.map((target) => target.replace(/^\.\//, ''))]
    expect(wanted.filter((path) => !paths.includes(path))).toEqual([])
  })

  it('holds no tests, no build state and no configuration', () => {
    expect(paths.length).toBeGreaterThan(20)
    const allowed = /^(LICENSE|README\.md|package\.json|dist\/.+\.(js|d\.ts)(\.map)?|src\/.+\.ts)$/
    expect(paths.filter((path) => !allowed.test(path) || /\.test\.|tsbuildinfo|tsconfig/.test(path))).toEqual([])
  })

  it('holds the sources that its source maps point to', () => {
    const maps = paths.filter((path) => path.endsWith('.map'))
    const sources = maps.flatMap((path) => {
      return (JSON.parse(read(path)) as { sources: string[] }).sources.map((source) => join(dirname(path), source))
    })
    expect(sources.length).toBeGreaterThan(20)
    expect(sources.filter((source) => !paths.includes(source))).toEqual([])
  })

  it('has the licence of the repository', () => {
    expect(read('LICENSE')).toBe(read('../../LICENSE'))
  })
})

describe('the readme', () => {
  it('has an example that prints what stands below it', () => {
    const [, code, printed] = /```js\n([\s\S]+?)```\n\n```\n([\s\S]+?)```/.exec(read('README.md')) ?? []
    expect(code).toContain('createLimiter')
    const options = { cwd: root, encoding: 'utf8', input: code } as const
    expect(execFileSync(process.execPath, ['--input-type=module', '-'], options)).toBe(printed)
  })
})

describe('docs/reference/errors.md', () => {
  const rows = [...read('../../docs/reference/errors.md').matchAll(/^\| `(\w+)` +\| (.+?) +\| (.+?) +\|$/gm)]
  const documented = rows.map(([, code, meaning]) => [code, meaning])

  it('explains every code, in the words and the order of the table, and no other', () => {
    expect(documented).toEqual(Object.entries(errorCodes))
  })

  it('says what to do about each', () => {
    for (const [, code, , advice = ''] of rows) expect(advice.length, code).toBeGreaterThan(20)
  })

  it('mentions no code that does not exist', () => {
    const mentioned = new Set(read('../../docs/reference/errors.md').match(/\bERR_[A-Z_]+\b/g))
    expect([...mentioned].filter((code) => !(code in errorCodes))).toEqual([])
  })

  it('explains codes that the library does throw', () => {
    const sources = filesBelow('src', '.ts').filter((path) => !path.endsWith('.test.ts'))
    const text = sources.map(read).join('\n')
    // In the table itself the codes stand without quotes.
    expect(Object.keys(errorCodes).filter((code) => !text.includes(`'${code}'`))).toEqual([])
  })
})
