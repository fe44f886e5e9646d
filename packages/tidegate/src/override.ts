import type { Duration } from './duration.ts'
import { invalid } from './errors.ts'
import type { CompiledLimit } from './limit.ts'
import { changeLimit, type WrittenLimit } from './limit-change.ts'
import type { Condition } from './matching/condition.ts'
import { compileMatch, type Match } from './matching/match.ts'
import { checkFlag, isRecord } from './options.ts'

/**
 * An exception to the limit of a rule, for requests that meet its conditions: `{ user: 'vip-1', limit: 100 }`. Its limit
 * fields replace those of the rule; every other field is a dimension and its condition, as in `match`. The names of limit
 * fields cannot be dimensions here.
 */
export interface OverrideOptions {
  limit?: number
  capacity?: number
  refill?: number
  burst?: number
  /** Such requests pass the rule, and are not counted by it. */
  unlimited?: boolean
  /** The same as in the rule, if it is there at all: another window would be another count. */
  window?: Duration
  shards?: number
  [dimension: string]: Condition | number | boolean | undefined
}

/** An override that has been checked. */
export interface Override {
  readonly match: Match
  /** `undefined`: without limit. */
  readonly limit: CompiledLimit | undefined
}

/** What an override can change: how much, while the counts stay what they are. */
const AMOUNTS = ['limit', 'capacity', 'refill', 'burst']
/** The fields of an override that it can only repeat: what makes another count of it. */
export const overrideShape: readonly string[] = [
  'algorithm',
  'window',
  'period',
  'resolution',
  'align',
  'timeZone',
  'shards',
]

/** The fields of an override that are no dimensions. */
export const overrideFields: readonly string[] = [...AMOUNTS, 'unlimited', ...overrideShape]

/** A limit that an override can change; `compiled` is no limit of its own where `isFromRequest`. */
export interface Overridden extends WrittenLimit {
  readonly isFromRequest: boolean
}

/**
 * Checks the overrides of a rule. `rule` is its limit, or undefined where it has none.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_INVALID_KEY`
 */
export function compileOverrides(value: unknown, field: string, rule: Overridden | undefined): Override[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw invalid('ERR_INVALID_OPTION', field, 'an array of overrides', value)
  return Array.from(value, (override: unknown, i) => compileOverride(override, `${field}[${i}]`, rule))
}

function compileOverride(value: unknown, field: string, rule: Overridden | undefined): Override {
  const expected = 'an object that gives dimensions their conditions, and a limit'
  if (!isRecord(value)) throw invalid('ERR_INVALID_OPTION', field, expected, value)
  const dimensions = Object.entries(value).filter(([name]) => !overrideFields.includes(name))
  if (dimensions.length === 0) {
    throw invalid('ERR_INVALID_OPTION', field, 'at least one dimension and its condition', value)
  }
  const match = compileMatch(Object.fromEntries(dimensions), field)
  const unlimited = checkFlag(value['unlimited'], `${field}.unlimited`)
  const change = present(value, AMOUNTS)
  const [amount] = Object.keys(change)
  if (unlimited) {
    if (amount === undefined) return { match, limit: undefined }
    throw invalid('ERR_INVALID_OPTION', `${field}.${amount}`, 'none with unlimited: true', change[amount])
  }
  if (amount === undefined && value['unlimited'] === undefined) {
    throw invalid('ERR_INVALID_OPTION', field, `one of ${AMOUNTS.join(', ')}, or unlimited: true`, value)
  }
  return { match, limit: limitOf(value, change, field, rule) }
}

function limitOf(
  value: Record<string, unknown>,
  change: Record<string, unknown>,
  field: string,
  rule: Overridden | undefined,
): CompiledLimit {
  if (rule === undefined) {
    const expected = 'none, because the rule has no limit to override: write its limit and window beside unlimited'
    throw invalid('ERR_INVALID_OPTION', `${field}.${Object.keys(change)[0] ?? 'unlimited'}`, expected, value)
  }
  const isFromRequest = rule.isFromRequest && change['limit'] === undefined
  if (isFromRequest) {
    const expected = "a limit, because the rule's own comes with the request"
    throw invalid('ERR_INVALID_OPTION', `${field}.limit`, expected, change['limit'])
  }
  ensureSameShape(value, field, rule)
  if (Object.keys(change).length === 0) return rule.compiled
  return changeLimit(rule, change, `${field}.`)
}

/** Refuses what would be another count. The same again does no harm. */
function ensureSameShape(value: Record<string, unknown>, field: string, rule: Overridden): void {
  const written = present(value, overrideShape)
  for (const [name, one] of Object.entries(written)) {
    const { algorithm, shape } = changeLimit(rule, { ...rule.fields, [name]: one }, `${field}.`)
    if (algorithm === rule.compiled.algorithm && String(shape) === String(rule.compiled.shape)) continue
    const expected =
      `the ${name} of the rule, or none: with another one it would be another count; ` +
      'write a rule of its own for these requests, and `skip` them here'
    throw invalid('ERR_INVALID_OPTION', `${field}.${name}`, expected, one)
  }
}

function present(fields: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => names.includes(name) && value !== undefined),
  )
}
