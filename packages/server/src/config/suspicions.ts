import type { RuleOptions } from 'tidegate'
import type { Rule } from 'tidegate/store'
import type { Suspicion } from './warning.ts'

/** No store decides so many requests in one ms, by a factor of a thousand: what admits more refuses nothing. */
const BEYOND_REACH_PER_MS = 1_000_000
/** The most that one key should hold. Bytes. */
const MUCH = 10_000_000
/** What a store keeps of each admission. Bytes. */
const BYTES_OF_ENTRY: Partial<Record<Rule['algorithm'], number>> = {
  'sliding-window': 10,
  'sliding-log': 100,
  concurrency: 100,
}

/** What is odd about one rule, whatever stands beside it. */
export function suspicionsOf(rule: Rule, options: RuleOptions): Suspicion[] {
  return [
    neverCounts(rule),
    refusesAll(rule, options),
    refusesNothing(rule),
    overflows(rule, options),
    isLarge(rule),
  ].filter((found) => found !== undefined)
}

/** A dimension of the key that the rule's own match wants to be missing. */
function neverCounts({ match, key }: Rule): Suspicion | undefined {
  const conditions = new Map(match)
  const dimension = key.find((one) => {
    const condition = conditions.get(one)
    return condition?.kind === 'not' && condition.condition.kind === 'glob' && condition.condition.values.some(isAny)
  })
  if (dimension === undefined) return undefined
  const what = `never counts a request: its match wants no ${dimension}, and its key needs one`
  return { field: 'key', what, advice: `leave ${dimension} out of one of the two` }
}

/** A glob that every value meets. */
function isAny(glob: string): boolean {
  return /^\*\*+$/.test(glob)
}

/** A limit of 0 with a match is how clients are shut out. */
function refusesAll({ limit, match }: Rule, options: RuleOptions): Suspicion | undefined {
  if (limit > 0 || match.length > 0) return undefined
  const what = 'refuses everybody: it admits nothing, and has no match'
  return { field: capacityField(options), what, advice: 'give it a limit, or a match for those who are meant' }
}

function refusesNothing({ algorithm, limit, windowMs, refillUnits, tokenUnits }: Rule): Suspicion | undefined {
  const perMs = algorithm === 'token-bucket' ? refillUnits / tokenUnits : windowMs > 0 ? limit / windowMs : 0
  if (perMs < BEYOND_REACH_PER_MS || limit < BEYOND_REACH_PER_MS) return undefined
  const what = `refuses no request of cost 1: it admits ${show(Math.floor(perMs))} in each ms`
  return { field: 'limit', what, advice: 'look at its limit and its window, or leave the rule out' }
}

/** More comes in one ms than a bucket holds, so that its rate is never reached. */
function overflows({ algorithm, limit, refillUnits, tokenUnits }: Rule, options: RuleOptions): Suspicion | undefined {
  if (algorithm !== 'token-bucket' || limit === 0 || refillUnits / tokenUnits <= limit) return undefined
  const what = `can hold ${show(limit)}, less than comes in one ms: at most that many are admitted in each ms`
  return { field: capacityField(options), what, advice: 'give it a larger capacity, or a lower limit' }
}

function isLarge({ algorithm, limit, windowMs, resolutionMs }: Rule): Suspicion | undefined {
  const ticks = algorithm === 'sliding-window' ? Math.ceil(windowMs / resolutionMs) + 1 : limit
  const bytes = Math.min(limit, ticks) * (BYTES_OF_ENTRY[algorithm] ?? 0)
  if (bytes <= MUCH) return undefined
  const what = `can take ${show(Math.round(bytes / 1_000_000))} MB in the store for one key`
  const advice =
    algorithm === 'sliding-window' ? 'give it a resolution, such as a hundredth of the window' : 'lower its limit'
  return { field: 'limit', what, advice }
}

/** Where the most that is admitted at once was written. */
function capacityField(options: RuleOptions): string {
  return options.capacity !== undefined ? 'capacity' : options.burst !== undefined ? 'burst' : 'limit'
}

function show(value: number): string {
  return value.toLocaleString('en-US')
}
