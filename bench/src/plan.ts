/** How much work a run does. */
export interface Plan {
  /** Rounds that count; one more warms up and is dropped. */
  readonly rounds: number
  /** How long each engine works in each round, seconds: the same for all, whatever else the machine does. */
  readonly seconds: number
}

/** What can be measured by itself, in the order of a full run. */
export const GROUPS = [
  'redis',
  'hot',
  'leased',
  'batches',
  'latency',
  'arrivals',
  'footprint',
  'users',
  'expiry',
  'cluster',
  'limits',
  'memory',
  'matching',
  'middleware',
  'service',
] as const
export type Group = (typeof GROUPS)[number]

export interface Options {
  readonly plan: Plan
  readonly groups: readonly Group[]
  /** Whether this is a full run, which alone may write the report. */
  readonly full: boolean
}

const FULL: Plan = { rounds: 5, seconds: 0.5 }
const QUICK: Plan = { rounds: 1, seconds: 0.05 }
const USAGE = `expected --only GROUP[,GROUP], --rounds N, --quick; the groups are ${GROUPS.join(', ')}`

/** @throws Error that names an argument or a value it does not know */
export function readOptions(args: readonly string[]): Options {
  let groups: readonly Group[] = GROUPS
  let rounds: number | undefined
  let quick = false
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--quick') quick = true
    else if (args[i] === '--only') groups = readGroups(args[++i])
    else if (args[i] === '--rounds') rounds = readRounds(args[++i])
    else throw new Error(`${args[i]}: unknown argument; ${USAGE}`)
  }
  const { seconds, rounds: usual } = quick ? QUICK : FULL
  return { plan: { seconds, rounds: rounds ?? usual }, groups, full: !quick && groups === GROUPS }
}

function readGroups(value = ''): Group[] {
  return value.split(',').map((word) => {
    const group = GROUPS.find((name) => name === word)
    if (group === undefined) throw new Error(`--only ${value}: ${USAGE}`)
    return group
  })
}

function readRounds(value = ''): number {
  const rounds = Number(value)
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) {
    throw new Error(`--rounds ${value}: expected a whole number from 1 to 100`)
  }
  return rounds
}
