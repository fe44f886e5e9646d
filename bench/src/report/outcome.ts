import type { Spread } from '../rounds.ts'
import type { TargetName } from './targets.ts'

/** A row of the targets, measured. */
export interface Finding {
  readonly target: TargetName
  readonly measured: Spread
  /** The peer that it is measured against, where that is the best of several. */
  readonly against?: string
}

/** A row that this version of the library cannot be measured by. */
export interface Unmeasured {
  readonly target: TargetName
  readonly why: string
}

export interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export interface Bar {
  readonly name: string
  readonly measured: Spread
  /** Ours stand out. */
  readonly isOurs: boolean
}

/** Horizontal bars from zero, each with a line from its least to its most. */
export interface BarChart {
  readonly title: string
  readonly unit: string
  readonly bars: readonly Bar[]
}

/** What a group of the benchmark hands to the report. */
export interface Outcome {
  readonly findings: readonly (Finding | Unmeasured)[]
  /** Figures that put the others into perspective; there is no target for them. */
  readonly tables: readonly Table[]
  /** Drawn into docs/images/benchmarks, by name of the file. */
  readonly charts: Readonly<Record<string, BarChart>>
}

export function joined(outcomes: readonly Outcome[]): Outcome {
  return {
    findings: outcomes.flatMap(({ findings }) => findings),
    tables: outcomes.flatMap(({ tables }) => tables),
    charts: Object.assign({}, ...outcomes.map(({ charts }) => charts)),
  }
}

/** A figure that stands in a table by itself. */
export interface Reference {
  readonly what: string
  readonly measured: Spread
  readonly unit: 'M/s' | 'k/s' | 'us' | 'B' | 'x'
}
