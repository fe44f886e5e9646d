import type { RuleOptions } from 'tidegate'
import { asksNoMoreThan, type Rule } from 'tidegate/store'
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
    lacksItsKey(rule),
    skipsAll(rule),
    ...overriddenBefore(rule),
    ...(rule.unlimited || rule.limitSource !== undefined ? [] : limitSuspicions(rule, options)),
  ].filter((found) => found !== undefined)
}

/** What is odd about a limit that stands in the rule. */
function limitSuspicions(rule: Rule, options: RuleOptions): (Suspicion | undefined)[] {
  return [refusesAll(rule, options), refusesNothing(rule), overflows(rule, options), isLarge(rule)]
}

/** A dimension of the key that the rule's own match wants to be missing. */
function lacksItsKey({ match, key, required }: Rule): Suspicion | undefined {
  const conditions = new Map(match)
  const dimension = key.find((one) => {
    const condition = conditions.get(one)
    return condition?.kind === 'not' && condition.condition.kind === 'glob' && condition.condition.values.some(isAny)
  })
  if (dimension === undefined) return undefined
  const what = `${required ? 'refuses all that it matches' : 'never counts a request'}: its match wants no ${dimension}, and its key needs one`
  return { field: 'key', what, advice: `leave ${dimension} out of one of the two` }
}

/** Whoever is matched is skipped. */
function skipsAll({ match, skip }: Rule): Suspicion | undefined {
  if (!skip.some((one) => asksNoMoreThan(one, match))) return undefined
  return { field: 'skip', what: 'never counts a request: it skips all that it matches', advice: 'look at its skip' }
}

/** Of several overrides the first has its way. */
function overriddenBefore({ overrides }: Rule): Suspicion[] {
  const first = new Map<string, number>()
  return overrides.flatMap(({ match }, i) => {
    const earlier = Math.min(...someOf(match).flatMap((some) => first.get(some) ?? []))
    const all = textOf(match)
    if (!first.has(all)) first.set(all, i)
    if (earlier === Number.POSITIVE_INFINITY) return []
    const what = `never reaches overrides[${i}]: whoever meets it meets overrides[${earlier}] before`
    return [{ field: 'overrides', what, advice: 'put the one with more conditions first, or leave one of the two out' }]
  })
}

/** All conditions, and all choices of some of them, each as one text; of many conditions only each alone. */
function someOf(match: Rule['match']): string[] {
  const single = match.map((one) => textOf([one]))
  if (match.length > MOST_CHOSEN) return [textOf(match), ...single]
  const choices: Rule['match'][] = [[]]
  for (const one of match) for (const some of [...choices]) choices.push([...some, one])
  return choices.slice(1).map(textOf)
}

/** So many conditions have 63 choices. */
const MOST_CHOSEN = 6

function textOf(match: Rule['match']): string {
  return match
    .map((one) => JSON.stringify(one))
    .sort()
    .join()
}

/** A glob that every value meets. */
function isAny(glob: string): boolean {
  return /^\*\*+$/.test(glob)
}

/** A limit of 0 with a match is how clients are shut out. */
function refusesAll(rule: Rule, options: RuleOptions): Suspicion | undefined {
  const { limit, match, key, overrides, skip, shadow } = rule
  if (limit > 0 || shadow || [match, overrides, skip].some(({ length }) => length > 0)) return undefined
  const whom = key.length === 0 ? 'everybody' : `every request with a ${key.join(' and a ')}`
  const what = `refuses ${whom}: it admits nothing, and has no match`
  return { field: capacityField(options), what, advice: 'give it a limit, or a match for those who are meant' }
}

function refusesNothing(rule: Rule): Suspicion | undefined {
  const { algorithm, limit, windowMs, refillUnits, tokenUnits, overrides } = rule
  // It may be there for those alone.
  if (overrides.length > 0) return undefined
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
