import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'

/** What the entries of the built package need, weigh and do when they are imported. Needs `npm run build`. */
const root = join(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { default: string }>
}
const entries = Object.entries(manifest.exports).flatMap(([name, target]) =>
  typeof target === 'string' ? [] : [[name.slice(1), join(root, target.default)] as const],
)

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidegate-entries-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The bytes of a program that has these exports of the core, bundled and minified by esbuild, and compressed. */
async function gzippedSize(...names: string[]): Promise<number> {
  const contents = `export { ${names.join(', ')} } from './dist/index.js'`
  const { outputFiles } = await build({
    ...{ stdin: { contents, resolveDir: root }, bundle: true, minify: true, write: false },
    ...{ format: 'esm', target: 'es2022' },
  })
  return gzipSync(outputFiles[0]?.contents ?? '').length
}

describe('what an import weighs', () => {
  const page = readFileSync(join(root, '../../docs/guide/library.md'), 'utf8')
  const rows = [...page.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| ([\d.]+) kB \|$/gm)].map(([, names = '', size]) => {
    return { names: names.match(/\w+/g) as string[], documented: Number(size) * 1000 }
  })

  it('is documented', () => {
    const documented = rows.map(({ names }) => names.join())
    expect(documented).toEqual([
      'createLimiter',
      'createGate',
      'createLimiter,createGate',
      'memoryStore',
      'TidegateError',
    ])
  })

  // What was wished for is 15 kB; every algorithm is in it, whichever is used. The bound keeps it from growing unseen.
  it.each(rows)('$names: what docs/guide/library.md says, within 5 %', async ({ names, documented }) => {
    const size = await gzippedSize(...names)
    expect(size).toBeLessThan(documented * 1.05)
    expect(size).toBeGreaterThan(documented * 0.95)
  })
})

describe('importing', () => {
  test.each(entries)('tidegate%s starts no timer', (_name, file) => {
    const script = `
      const started = []
      for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
        const real = globalThis[name]
        globalThis[name] = (...args) => { started.push(name); return real(...args) }
      }
      await import(${JSON.stringify(file)})
      console.log(JSON.stringify(started))`
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    expect(JSON.parse(printed)).toEqual([])
  })

  it('can be done by require', () => {
    const script = "const { createLimiter } = require('tidegate'); console.log(typeof createLimiter)"
    const printed = execFileSync(process.execPath, ['-e', script], { cwd: root, encoding: 'utf8' })
    expect(printed).toBe('function\n')
  })
})

describe('a runtime that has nothing but what browsers and workers have', () => {
  /** Modules in a context of their own, whose globals are those of the web alone. */
  const RUNTIME = `
    import { readFileSync } from 'node:fs'
    import { resolve, dirname } from 'node:path'
    import vm from 'node:vm'
    const web = { Request, Response, Headers, URL, TextEncoder, TextDecoder, AbortController, AbortSignal, crypto,
      setTimeout, clearTimeout, queueMicrotask, performance, fetch, console, DOMException }
    const context = vm.createContext(web)
    const modules = new Map()
    const load = (file) => {
      if (!modules.has(file)) {
        modules.set(file, new vm.SourceTextModule(readFileSync(file, 'utf8'), { context, identifier: file }))
      }
      return modules.get(file)
    }
    export const run = async (file) => {
      const module = load(file)
      await module.link((specifier, { identifier }) => {
        if (!specifier.startsWith('.')) throw new Error(identifier + ' imports ' + specifier)
        return load(resolve(dirname(identifier), specifier))
      })
      await module.evaluate()
      return module.namespace
    }`

  function run(script: string): string {
    writeFileSync(join(folder, 'runtime.mjs'), RUNTIME)
    writeFileSync(join(folder, 'script.mjs'), `import { run } from './runtime.mjs'\n${script}`)
    const args = ['--no-warnings', '--experimental-vm-modules', 'script.mjs']
    return execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  }

  test.each(entries.filter(([name]) => name !== '/nestjs'))('tidegate%s is there', (_name, file) => {
    expect(Number(run(`console.log(Object.keys(await run(${JSON.stringify(file)})).length)`))).toBeGreaterThan(0)
  })

  it('limits', () => {
    const file = join(root, 'dist/adapters/fetch.js')
    const script = `
      const { rateLimit } = await run(${JSON.stringify(file)})
      const handle = rateLimit({ limit: 1, window: '1m', trustProxy: 1 })(() => new Response('ok'))
      for (let i = 0; i < 2; i++) {
        const headers = { 'X-Forwarded-For': '192.0.2.1' }
        console.log((await handle(new Request('http://x.example/', { headers }))).status)
      }`
    expect(run(script)).toBe('200\n429\n')
  })
})

describe('the packed package, where no framework is installed', () => {
  const SOURCE = `
    import { createGate, createLimiter, type Decision } from 'tidegate'
    import { limitFetch, rateLimit } from 'tidegate/fetch'
    import { rateLimitHeaders, type RequestLimitOptions } from 'tidegate/http'
    import { rateLimit as limitNode } from 'tidegate/node'
    import { openTelemetryObserver, type Meter } from 'tidegate/opentelemetry'
    import { prometheusObserver, type PrometheusClient } from 'tidegate/prometheus'
    import { redisStore } from 'tidegate/redis'
    import { remoteStore } from 'tidegate/remote'
    import { encodeKey } from 'tidegate/store'
    import { expressRateLimitStore } from 'tidegate/stores/express-rate-limit'
    import { fastifyRateLimitStore } from 'tidegate/stores/fastify-rate-limit'
    import { honoRateLimiterStore } from 'tidegate/stores/hono-rate-limiter'
    import { throttlerStorage } from 'tidegate/stores/nestjs-throttler'
    export const decision: Promise<Decision> = createLimiter({ limit: 1, window: 1 }).limit('k')
    export const options: RequestLimitOptions<Request, Response> = { limit: 5, window: '1m' }
    export const handle = rateLimit({ ...options, trustProxy: 1 })((request) => new Response(request.url))
    export const counted = (client: PrometheusClient, meter: Meter) =>
      createLimiter({ limit: 1, window: 1, observer: { ...prometheusObserver(client), ...openTelemetryObserver(meter) } })
    // @ts-expect-error a limit is a number
    createLimiter({ limit: 'five', window: 1 })
    export const all = [createGate, limitFetch, rateLimitHeaders, limitNode, redisStore, remoteStore, encodeKey, expressRateLimitStore,
      fastifyRateLimitStore, honoRateLimiterStore, throttlerStorage]
  `
  beforeAll(() => {
    const modules = join(folder, 'consumer/node_modules')
    mkdirSync(modules, { recursive: true })
    const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
      cwd: root,
      encoding: 'utf8',
    })
    const [{ filename }] = Object.values(JSON.parse(packed)) as [{ filename: string }]
    execFileSync('tar', ['-xzf', join(folder, filename), '-C', modules])
    execFileSync('mv', [join(modules, 'package'), join(modules, 'tidegate')])
    writeFileSync(join(folder, 'consumer/index.mts'), SOURCE)
  })

  test.each([
    ['node16', 'node16'],
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('has its types with module %s and resolution %s', (module, moduleResolution) => {
    const compilerOptions = {
      ...{ module, moduleResolution, target: 'es2022', lib: ['es2023', 'dom'], types: [], strict: true },
      // The declarations of the library are checked as well.
      ...{ skipLibCheck: false, noEmit: true },
    }
    const config = join(folder, 'consumer/tsconfig.json')
    writeFileSync(config, JSON.stringify({ compilerOptions, files: ['index.mts'] }))
    const tsc = join(root, '../../node_modules/typescript/bin/tsc')
    expect(() => execFileSync(process.execPath, [tsc, '-p', config], { encoding: 'utf8', stdio: 'pipe' })).not.toThrow()
  })

  it('runs', () => {
    const script = "import { rateLimit } from 'tidegate/node'; console.log(typeof rateLimit({ limit: 1, window: 1 }))"
    const options = { cwd: join(folder, 'consumer'), encoding: 'utf8' } as const
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], options)).toBe('function\n')
  })
})
