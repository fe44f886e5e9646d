import { figure, markdownTable, range } from './figures.ts'
import type { Outcome } from './outcome.ts'
import { shareOfAim, type Target, type TargetName, targetOf, targets, verdictOf } from './targets.ts'

/** The places in the template that a run fills: `{{name}}`. */
export interface Circumstances {
  readonly date: string
  readonly command: string
  readonly machine: string
  readonly rounds: string
  /** How long the run took. */
  readonly minutes: string
}

/**
 * Fills the template. Its prose is written by hand, its numbers never are. What stands between `{{#missed name}}` and
 * `{{/missed}}` is kept where the must of that target is missed.
 * @throws Error for a place that nothing fills, or a note for what is no target
 */
export function renderReport(template: string, circumstances: Circumstances, outcome: Outcome): string {
  const fields: Record<string, string> = {
    ...circumstances,
    targets: renderTargets(outcome),
    tables: renderTables(outcome),
    charts: Object.entries(outcome.charts)
      .map(([file, { title }]) => `![${title}](images/benchmarks/${file})`)
      .join('\n\n'),
  }
  return renderNotes(template, outcome).replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = fields[name]
    if (value === undefined) throw new Error(`the template names {{${name}}}, which nothing fills`)
    return value
  })
}

export function renderTargets({ findings }: Outcome): string {
  const order = Object.keys(targets)
  const sorted = findings.toSorted((a, b) => order.indexOf(a.target) - order.indexOf(b.target))
  const rows = sorted.map((finding) => {
    const target = targetOf(finding.target)
    const show = (value: number) => withUnit(value, target)
    const bars = [target.what, show(target.must), target.aim === undefined ? '-' : show(target.aim)]
    if ('why' in finding) return [...bars, '-', '-', '-', `not measured: ${finding.why}`]
    const { measured, against } = finding
    const share = shareOfAim(target, measured.median)
    return [
      ...bars,
      `${show(measured.median)}${against === undefined ? '' : ` (${against})`}`,
      range(measured, show),
      share === undefined ? '-' : `${figure(share)} %`,
      verdictOf(target, measured.median),
    ]
  })
  return markdownTable(['what', 'must', 'aim', 'measured', 'least to most', 'of the aim', 'verdict'], rows)
}

export function renderTables({ tables }: Outcome): string {
  return tables.map(({ title, head, rows }) => `### ${title}\n\n${markdownTable(head, rows)}`).join('\n\n')
}

function withUnit(value: number, { unit }: Target): string {
  return unit === undefined ? `${figure(value)}x` : `${figure(value)} ${unit}`
}

function renderNotes(template: string, { findings }: Outcome): string {
  const missed = new Set<string>()
  for (const finding of findings) {
    if ('why' in finding) continue
    const isMissed = verdictOf(targetOf(finding.target), finding.measured.median).includes('missed')
    if (isMissed) missed.add(finding.target)
  }
  const noted = new Set<string>()
  const text = template.replace(/\{\{#missed ([\w ]+)\}\}\n([\s\S]*?)\{\{\/missed\}\}\n/g, (_, names: string, note) => {
    const all = names.split(' ')
    const unknown = all.find((name) => !(name in targets))
    if (unknown !== undefined) throw new Error(`the template has a note for ${unknown}, which is no target`)
    for (const name of all) noted.add(name)
    return all.some((name) => missed.has(name)) ? note : ''
  })
  const silent = [...missed].filter((name) => !noted.has(name)).map((name) => targetOf(name as TargetName).what)
  const unexplained = silent.map((what) => `**${what}.** Missed in this run, and not looked into yet.\n`)
  return text.replace('{{unexplained}}\n', missed.size === 0 ? 'None is in this run.\n' : unexplained.join('\n'))
}
