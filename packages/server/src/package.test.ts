import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** What users get: the built package. Needs `npm run build`. */
const root = join(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' })
const [packed] = Object.values(JSON.parse(output) as Record<string, { files: { path: string }[] }>)
const paths = (packed?.files ?? []).map(({ path }) => path)

test('the tarball holds what the service needs to run, its licence and its readme', () => {
  const page = ['html', 'css', 'js'].map((ending) => `public/start-page.${ending}`)
  const wanted = [
    'LICENSE',
    'README.md',
    'config/example.yaml',
    'config/rules.schema.json',
    'bin/tidegate.js',
    'dist/main.js',
    ...page,
  ]
  expect(wanted.filter((path) => !paths.includes(path))).toEqual([])
})

test('the tarball holds no tests and no build state', () => {
  expect(paths.length).toBeGreaterThan(20)
  expect(paths.filter((path) => /\.test\.|testing\/|tsbuildinfo|tsconfig/.test(path))).toEqual([])
})

test('the licence is that of the repository', () => {
  expect(read('LICENSE')).toBe(read('../../LICENSE'))
})

test('the readme names no file that does not come with it', () => {
  const readme = read('README.md')
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => path)
  expect(links).toContain('config/example.yaml')
  expect(links.filter((path) => !paths.includes(path))).toEqual([])
  const named = [...readme.matchAll(/(?<![\w/.-])(?:\w+\/)+[\w-]+\.(?:md|yaml|ts|conf)\b/g)].map(([path]) => path)
  expect(named.filter((path) => !paths.includes(path))).toEqual([])
  expect(readme).not.toMatch(/\b(?:docs|examples|packages)\//)
})

test('the command is there before the build is, and runs what was built', () => {
  const { bin } = JSON.parse(read('package.json')) as { bin: { tidegate: string } }
  expect(execFileSync('git', ['ls-files', bin.tidegate], { cwd: root, encoding: 'utf8' })).toBe(`${bin.tidegate}\n`)
  expect(execFileSync(join(root, bin.tidegate), ['--help'], { encoding: 'utf8' })).toMatch(/^Usage:/)
})
