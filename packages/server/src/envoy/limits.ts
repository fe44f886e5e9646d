import { createHash } from 'node:crypto'
import { formatProblem } from '../config/problem.ts'
import { readText } from '../config/read-text.ts'
import { domainRoot, plant, type TreeLimit, type TreeNode } from './limit-tree.ts'
import { listFiles } from './list-files.ts'
import { readDomain } from './read-domain.ts'

/** All limits of a configuration of envoyproxy/ratelimit. */
export interface Limits {
  readonly domains: ReadonlyMap<string, TreeNode>
  readonly files: readonly string[]
  /** A fingerprint of the files' content. */
  readonly version: string
}

export interface LoadOptions {
  /** Several files may have the same domain. Default: false. */
  readonly mergeDomains?: boolean
}

/** Reads a file, or all files of a folder; or lists everything that is wrong with them, a line each. */
export function loadLimits(path: string, options: LoadOptions = {}): { limits: Limits } | { problems: string[] } {
  let files: string[]
  try {
    files = listFiles(path)
  } catch (error) {
    return {
      problems: [`${path}: cannot be read (${(error as NodeJS.ErrnoException).code}), expected a file or a folder`],
    }
  }
  if (files.length === 0) return { problems: [`${path}: holds no file, expected at least one`] }
  const read = files.map((name) => ({ name, content: readText(name, 0) }))
  return growLimits(
    read.map(({ name, content }) => ({ name, ...content })),
    options,
  )
}

/** One file: its text, or why it has none. */
type NamedText = { readonly name: string } & ReturnType<typeof readText>

function growLimits(files: readonly NamedText[], { mergeDomains = false }: LoadOptions) {
  const domains = new Map<string, TreeNode>()
  const problems: string[] = []
  const hash = createHash('sha256')
  for (const file of files) {
    const read = 'text' in file ? readDomain(file.text) : { problems: [file.problem] }
    if ('problems' in read) {
      problems.push(...read.problems.map((problem) => formatProblem(file.name, problem)))
      continue
    }
    hash.update(JSON.stringify([file.name, 'text' in file ? file.text : '']))
    const { domain } = read.domain
    const there = domains.get(domain)
    if (there !== undefined && !mergeDomains) {
      problems.push(`${file.name}: the domain ${JSON.stringify(domain)} is in another file, expected each domain once`)
      continue
    }
    const root = there ?? domainRoot()
    domains.set(domain, root)
    const expected = 'each key and value once in a list'
    problems.push(
      ...plant(root, read.domain).map((one) => `${file.name}: ${one} is in another file, expected ${expected}`),
    )
  }
  if (problems.length > 0) return { problems }
  const names = files.map(({ name }) => name)
  return { limits: { domains, files: names, version: hash.digest('hex').slice(0, 8) } }
}

/** All limits, in the order of the files. */
export function limitsIn({ domains }: Limits): TreeLimit[] {
  return [...domains.values()].flatMap(limitsBelow)
}

function limitsBelow(node: TreeNode): TreeLimit[] {
  const own = node.limit === undefined ? [] : [node.limit]
  return [...own, ...[...node.children.values()].flatMap(limitsBelow)]
}
