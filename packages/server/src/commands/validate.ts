import { clusterNotes, warningsOf } from '../config/find-warnings.ts'
import { loadConfig } from '../config/load-config.ts'
import { formatProblem } from '../config/problem.ts'
import { formatWarning } from '../config/warning.ts'
import { limitsIn, loadLimits } from '../envoy/limits.ts'
import { type Flags, readArguments, refusal } from './arguments.ts'

export const validateFlags = {
  strict: { type: 'boolean', usage: '--strict', doc: 'Warnings are errors: the exit code is 1.' },
  cluster: {
    type: 'boolean',
    usage: '--cluster',
    doc: 'Also says which rules a Redis Cluster decides in more than one step.',
  },
  ratelimit: {
    type: 'boolean',
    usage: '--ratelimit',
    doc: 'The file, or folder, is of envoyproxy/ratelimit.',
  },
} as const satisfies Flags

/**
 * Checks a file of rules, and warns of what it may not mean.
 * @returns the exit code: 1 where something is wrong, or with `--strict` where there is a warning
 */
export function validate(args: string[]): number {
  const { positionals, flags } = readArguments('validate', args, validateFlags)
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw refusal('validate', 'expected the name of one file')
  if (flags.has('ratelimit')) return validateLimits(file)
  const loaded = loadConfig(file)
  if ('problems' in loaded) {
    for (const problem of loaded.problems) process.stderr.write(`${formatProblem(file, problem)}\n`)
    return 1
  }
  const { config, document } = loaded
  const warnings = warningsOf(config, document)
  const notes = flags.has('cluster') ? clusterNotes(config, document) : []
  for (const warning of [...warnings, ...notes]) process.stderr.write(`${formatWarning(file, warning)}\n`)
  if (flags.has('strict') && warnings.length > 0) return 1
  const counts = [
    counted(config.rules.length, 'rule'),
    ...(warnings.length > 0 ? [counted(warnings.length, 'warning')] : []),
  ]
  process.stdout.write(`${file}: ok, ${counts.join(', ')}\n`)
  return 0
}

function validateLimits(path: string): number {
  const loaded = loadLimits(path)
  if ('problems' in loaded) {
    for (const problem of loaded.problems) process.stderr.write(`${problem}\n`)
    return 1
  }
  const { domains } = loaded.limits
  const counts = [counted(domains.size, 'domain'), counted(limitsIn(loaded.limits).length, 'limit')]
  process.stdout.write(`${path}: ok, ${counts.join(', ')}\n`)
  return 0
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
