import type { Position } from './problem.ts'

/** What is odd about a rule, at one of its fields, and what to do about it. */
export interface Suspicion {
  readonly field: string
  readonly what: string
  readonly advice: string
}

/** Something that a file may say and that is hardly meant; or, as `info`, something that is good to know. */
export interface ConfigWarning extends Position {
  readonly level: 'warning' | 'info'
  readonly what: string
  readonly advice: string
}

/** `file:line:column: warning: what; advice`: what editors and terminals take as a link. */
export function formatWarning(file: string, { line, column, level, what, advice }: ConfigWarning): string {
  return `${file}:${line}:${column}: ${level}: ${what}; ${advice}`
}
