import { loadConfig } from '../config/load-config.ts'
import { formatProblem } from '../config/problem.ts'
import { ServiceError } from '../errors.ts'

/** Checks a file of rules. */
export function validate(args: string[]): number {
  const [file, ...others] = args
  if (file === undefined || file.startsWith('-') || others.length > 0) {
    throw new ServiceError('ERR_INVALID_SETTING', 'validate: expected the name of one file')
  }
  const loaded = loadConfig(file)
  if ('problems' in loaded) {
    for (const problem of loaded.problems) process.stderr.write(`${formatProblem(file, problem)}\n`)
    return 1
  }
  const { length } = loaded.config.rules
  process.stdout.write(`${file}: ok, ${length} ${length === 1 ? 'rule' : 'rules'}\n`)
  return 0
}
