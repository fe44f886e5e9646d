/**
 * Assembles the Lua scripts into one generated TypeScript file: includes resolved, comments left
 * out, SHA-1 computed. `--check` compares instead of writing and exits with 1 on a difference.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = join(dirname(fileURLToPath(import.meta.url)), '../packages/tidegate/src/stores/redis')
const output = join(folder, 'scripts.generated.ts')
const names = ['decide', 'refund', 'entries', 'renew', 'reserve', 'settle', 'block', 'unblock', 'heartbeat']
const scripts = Object.fromEntries(names.map((name) => [name, join(folder, `scripts/${name}.lua`)]))

function assemble(path) {
  const source = readFileSync(path, 'utf8').replace(/--\[\[[\s\S]*?\]\]\n?/g, '')
  return source
    .split('\n')
    .map((line) => {
      const include = /^ *--@include (\S+)$/.exec(line)
      if (include) return assemble(join(dirname(path), `${include[1]}.lua`))
      return line.trimStart().startsWith('--') ? '' : line.trim()
    })
    .filter((line) => line !== '')
    .join('\n')
}

/** Puts the values of `local NAME = literal` in place of NAME: in Lua each constant that a function uses costs each call of the script. */
function inlineConstants(source) {
  const values = new Map()
  const rest = source.replace(/^local ([A-Z_]+) = ('[^']*'|-?\d+)\n/gm, (_, name, value) => {
    values.set(name, value)
    return ''
  })
  return rest.replace(/\b[A-Z][A-Z_]+\b(?!')/g, (name) => values.get(name) ?? name)
}

const lines = Object.entries(scripts).flatMap(([name, path]) => {
  const source = inlineConstants(assemble(path))
  const sha1 = createHash('sha1').update(source).digest('hex')
  return [`export const ${name} = {`, `  sha1: '${sha1}',`, `  source: ${JSON.stringify(source)},`, '}', '']
})
const generated = [
  '// Generated from the .lua files by scripts/generate-lua.mjs: change those, then `npm run generate`.',
  ...lines,
].join('\n')

if (process.argv.includes('--check')) {
  if (readFileSync(output, 'utf8') !== generated) {
    console.error('scripts.generated.ts does not match the .lua files: run `npm run generate` and commit the result.')
    process.exit(1)
  }
} else if (!existsSync(output) || readFileSync(output, 'utf8') !== generated) {
  // Left alone where nothing has changed, so that nothing is built again for it.
  writeFileSync(output, generated)
}
