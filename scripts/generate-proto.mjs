/**
 * Makes packages/server/src/grpc/generated of the protos in packages/server/proto, with buf and protoc-gen-es from npm.
 * `--check` writes nothing, and fails where the committed code is not what the protos make.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const server = join(root, 'packages/server')
const committed = join(server, 'src/grpc/generated')

const template = (out) =>
  JSON.stringify({
    version: 'v2',
    clean: true,
    plugins: [{ local: 'protoc-gen-es', out, opt: ['target=ts', 'import_extension=ts'] }],
  })

function generate(out) {
  const path = `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`
  const { status, error } = spawnSync('buf', ['generate', 'proto', '--template', template(out)], {
    cwd: server,
    env: { ...process.env, PATH: path },
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`buf generate failed${error === undefined ? '' : `: ${error.message}`}`)
}

function filesIn(folder) {
  if (!existsSync(folder)) return new Map()
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map((entry) => join(entry.parentPath, entry.name))
  return new Map(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]))
}

if (process.argv.includes('--check')) {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-protos-'))
  try {
    generate(folder)
    const [wanted, found] = [filesIn(folder), filesIn(committed)]
    const differing = [...new Set([...wanted.keys(), ...found.keys()])].filter(
      (name) => wanted.get(name) !== found.get(name),
    )
    if (wanted.size === 0) differing.push('nothing was generated')
    if (differing.length > 0) {
      console.error(`Not what the protos make: ${differing.join(', ')}. Run: npm run generate:proto`)
      process.exit(1)
    }
    console.log(`${wanted.size} files are what the protos make`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
} else {
  generate(committed)
}
