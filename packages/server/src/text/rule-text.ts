import type { Rule } from 'tidegate/store'
import { conditionText } from './condition-text.ts'
import { durationText } from './duration-text.ts'

/** To which requests a rule applies, for people: `route = /order, except user = root`. */
export function appliesText({ match, skip }: Rule): string {
  const exceptions = skip.slice(0, MOST_SHOWN).map(matchText)
  const more = skip.length - exceptions.length
  if (more > 0) exceptions.push(`${more} more`)
  return [match.length === 0 ? 'every request' : matchText(match), ...exceptions.map(except)].join(', ')
}

/** How much a rule admits: `1,000`, `plan_limit, else 10`, `none`, and how many overrides there are. */
export function limitText(rule: Rule): string {
  const { overrides } = rule
  if (overrides.length === 0) return ownLimitText(rule)
  return `${ownLimitText(rule)}, with ${count(overrides.length)} ${overrides.length === 1 ? 'override' : 'overrides'}`
}

/** In how long: `90 s`, `day (Europe/Berlin)`, `none` where what is admitted counts for ever. */
export function windowText({ algorithm, windowMs, written }: Rule): string {
  if (written === undefined) return 'none'
  if (algorithm === 'quota') return 'for ever'
  if (windowMs > 0) return durationText(windowMs)
  const { align, timeZone = 'UTC' } = written.fields
  return `${String(align)} (${String(timeZone)})`
}

/** What else is to know of a rule: that it is in shadow, what a request costs, what it must have. */
export function particularsText({ algorithm, shadow, required, cost, unlimited, shards, lease }: Rule): string {
  return [
    shadow ? 'in shadow: refuses nobody' : '',
    algorithm === 'sliding-window' || unlimited ? '' : algorithm,
    shards === 1 ? '' : `${shards} shards`,
    lease === undefined ? '' : lease.slack > 0 ? `leased, slack ${lease.slack}` : 'leased',
    cost === undefined ? '' : `costs ${cost}`,
    required ? 'refuses requests without these dimensions' : '',
  ]
    .filter((text) => text !== '')
    .join('; ')
}

function ownLimitText({ limit, limitSource, unlimited }: Rule): string {
  if (unlimited) return 'none'
  if (limitSource === undefined) return count(limit)
  return limitSource.dimension === undefined ? 'by function' : `${limitSource.dimension}, else ${count(limit)}`
}

/** All that a match asks, for people: `route = /order, ip in 10.0.0.0/8`. */
export function matchText(match: Rule['match']): string {
  return match.map((one) => conditionText(...one)).join(', ')
}

function except(text: string): string {
  return `except ${text}`
}

/** A list of exceptions can have thousands. */
const MOST_SHOWN = 3

function count(value: number): string {
  return value.toLocaleString('en-US')
}
