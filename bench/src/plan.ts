/** How much work a run does. */
export interface Plan {
  readonly rounds: number
  /** Multiplies every number of decisions. */
  readonly scale: number
}

export const SECTIONS = ['memory', 'matching', 'redis', 'latency', 'footprint', 'middleware'] as const
export type Section = (typeof SECTIONS)[number]

export interface Options {
  readonly plan: Plan
  readonly sections: readonly Section[]
  /** Whether this is a full run, which alone may write the report. */
  readonly full: boolean
}

const FULL: Plan = { rounds: 5, scale: 1 }
const QUICK: Plan = { rounds: 1, scale: 0.05 }

/** @throws Error that names an argument it does not know */
export function readOptions(args: readonly string[]): Options {
  let plan = FULL
  let sections: readonly Section[] = SECTIONS
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--quick') plan = QUICK
    else if (args[i] === '--only') sections = [readSection(args[++i])]
    else throw new Error(`${args[i]}: unknown argument, expected --quick or --only ${SECTIONS.join('|')}`)
  }
  return { plan, sections, full: plan === FULL && sections === SECTIONS }
}

function readSection(value: string | undefined): Section {
  const section = SECTIONS.find((name) => name === value)
  if (section === undefined) throw new Error(`--only: expected ${SECTIONS.join(', ')}, received ${value ?? 'nothing'}`)
  return section
}
