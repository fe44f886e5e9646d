import { type Finding, type Outcome, type Reference, type Target, targets } from './findings.ts'
import type { Spread } from './rounds.ts'

/** The places in the template that a run fills: `{{name}}`. */
export interface Circumstances {
  readonly date: string
  readonly command: string
  readonly machine: string
  readonly rounds: string
}

/**
 * Fills the template. Its prose is written by hand, its numbers never are.
 * @throws Error for a place that nothing fills
 */
export function renderReport(template: string, circumstances: Circumstances, outcome: Outcome): string {
  const fields: Record<string, string> = {
    ...circumstances,
    findings: renderFindings(outcome.findings),
    references: renderReferences(outcome.references),
  }
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = fields[name]
    if (value === undefined) throw new Error(`the template names {{${name}}}, which nothing fills`)
    return value
  })
}

export function renderFindings(findings: readonly Finding[]): string {
  const rows = findings.map(({ target, measured }) => {
    const { what, must, aim } = targets[target]
    const cells = [what, ratioText(must), ratioText(aim), ratioText(measured.median), range(measured, ratioText)]
    return [...cells, verdictOf(targets[target], measured.median)]
  })
  return table(['what', 'must', 'aim', 'measured', 'least to most', 'verdict'], rows)
}

export function renderReferences(references: readonly Reference[]): string {
  const rows = references.map(({ what, measured, unit }) => {
    return [what, `${figure(measured.median)} ${unit}`, range(measured, figure)]
  })
  return table(['what', 'median', 'least to most'], rows)
}

/** Judged by the figure as measured, not as rounded for the table. */
export function verdictOf({ must, aim, better }: Target, measured: number): string {
  const reaches = (bar: number) => (better === 'higher' ? measured >= bar : measured <= bar)
  if (reaches(aim)) return 'aim met'
  return reaches(must) ? 'must met' : '**must missed**'
}

function ratioText(value: number): string {
  return `${figure(value)}x`
}

/** Three digits say all that a noisy machine knows. */
function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)))
}

function range({ least, most }: Spread, show: (value: number) => string): string {
  return least === most ? '-' : `${show(least)} to ${show(most)}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
