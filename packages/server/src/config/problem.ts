/** Where something stands in a file; lines and columns begin at 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** One thing that is wrong with a file. */
export interface ConfigProblem extends Position {
  readonly what: string
  readonly expected: string
}

/** `file:line:column: what, expected what`: what editors and terminals take as a link. */
export function formatProblem(file: string, { line, column, what, expected }: ConfigProblem): string {
  return `${file}:${line}:${column}: ${what}, expected ${expected}`
}

/** In the order of the file, as they are read. */
export function inFileOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return [...problems].sort((one, other) => one.line - other.line || one.column - other.column)
}
