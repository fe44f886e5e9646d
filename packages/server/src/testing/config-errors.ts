import { parseConfig } from '../config/load-config.ts'
import { formatProblem } from '../config/problem.ts'

/** A mistake, a file that makes it, and every line that the file must be answered with. */
export type BrokenFile = readonly [mistake: string, file: string, ...errors: string[]]

export const RULE_FIELDS =
  'name, match, key, limit, window, algorithm, resolution, align, timeZone, capacity, refill, period, burst, shards, overrides, skip, unlimited, shadow, required, cost, penalty, mode, slack, leaseMs, onStoreFailure, description'

/** A file with one rule, whose lines below `name` are given. */
export function rule(...lines: string[]): string {
  return ['rules:', '  - name: a', ...lines.map((line) => `    ${line}`)].join('\n')
}

/** All errors of a file, `line:column: what, expected what`. */
export function errorsOf(text: string): string[] {
  const parsed = parseConfig(text)
  return 'problems' in parsed ? parsed.problems.map((problem) => formatProblem('', problem).slice(1)) : []
}
