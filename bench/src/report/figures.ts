import type { Spread } from '../rounds.ts'
import type { Reference, Table } from './outcome.ts'

/** Three digits say all that a noisy machine knows. */
export function figure(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)))
}

export function range({ least, most }: Spread, show: (value: number) => string = figure): string {
  return least === most ? '-' : `${show(least)} to ${show(most)}`
}

/** Figures of different kinds, one a row. */
export function tableOf(title: string, references: readonly Reference[]): Table {
  const rows = references.map(({ what, measured, unit }) => {
    return [what, `${figure(measured.median)} ${unit}`, range(measured)]
  })
  return { title, head: ['what', 'median', 'least to most'], rows }
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Each figure of a series in another unit. */
export function scaled({ median, least, most }: Spread, factor: number): Spread {
  return { median: median * factor, least: least * factor, most: most * factor }
}
