import { MAX_COUNT } from './decision.ts'
import { type Duration, parseDuration } from './duration.ts'
import { invalid, TidegateError } from './errors.ts'
import { checkKey } from './key.ts'
import { checkFields, checkInteger, checkPattern, isRecord } from './options.ts'
import { sha256 } from './sha256.ts'

/** The algorithms that a rule can name. */
export const ALGORITHMS = ['sliding-window'] as const
export type AlgorithmName = (typeof ALGORITHMS)[number]

/** What is admitted, and in how long. */
export interface LimitOptions {
  /** The most cost admitted in any window: a whole number from 0 to 4,294,967,295. 0 admits nothing. */
  limit: number
  /** The window: milliseconds or `'1s'`, `'1h'`, `'7d'`; from 1 ms to 366 days. */
  window: Duration
  /** How it is counted. Default: `sliding-window`, exact in every continuous window. */
  algorithm?: AlgorithmName
}

/** One limit of a gate. */
export interface RuleOptions extends LimitOptions {
  /** Unique among the rules of a gate; letters, digits, `_`, `-` and `.`, at most 64. */
  name: string
  /** The rule applies to requests whose dimensions equal all of these. Default: to every request. */
  match?: Record<string, string>
  /** The dimensions whose values are counted apart. Default: none, one count for all requests. */
  key?: string[]
  /** What the rule is for, for whoever reads it. */
  description?: string
}

/** A rule that has been checked, in the form that limiters and stores work with. */
export interface Rule {
  readonly name: string
  readonly match: readonly (readonly [dimension: string, value: string])[]
  readonly key: readonly string[]
  readonly algorithm: AlgorithmName
  readonly limit: number
  readonly windowMs: number
  readonly description: string | undefined
  /**
   * `name.fingerprint`: what its stored state is filed under. The fingerprint covers the format of
   * the state, the algorithm, the window and the key's dimensions, so that a change of any of them
   * starts anew; a changed limit keeps its counts.
   */
  readonly id: string
}

/** A rule may hold at most this many entries for one key (10 bytes each in Redis). */
export const MAX_ENTRIES = 4_000_000

/** Counts the formats of stored state; part of every fingerprint. */
export const STATE_FORMAT = 1

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const NAME_EXPECTED = "1 to 64 letters, digits, '_', '-' or '.', beginning with a letter or digit"
const LIMIT_FIELDS = ['limit', 'window', 'algorithm'] as const
const RULE_FIELDS = ['name', 'match', 'key', ...LIMIT_FIELDS, 'description'] as const

/** A name that can stand in keys, headers and metrics. */
export function checkName(value: unknown, field: string): string {
  return checkPattern(value, field, NAME, NAME_EXPECTED)
}

/**
 * Checks one rule. `field` is where it stands, e.g. `rules[2]`.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_INVALID_KEY`
 */
export function compileRule(options: unknown, field: string): Rule {
  const fields = checkFields(options, field, RULE_FIELDS)
  const name = checkName(fields['name'], `${field}.name`)
  const match = compileMatch(fields['match'], `${field}.match`)
  const key = compileKey(fields['key'], `${field}.key`)
  const description = compileDescription(fields['description'], `${field}.description`)
  return { ...compileLimit(fields, `${field}.`, name, key), match, description }
}

/** Checks the rule of a limiter: one limit, counted by the key of each call. */
export function compileLimiterRule(options: Record<string, unknown>, name: string): Rule {
  return { ...compileLimit(options, '', name, ['key']), match: [], description: undefined }
}

/** The fields of `LimitOptions`. */
export const limitFields: readonly string[] = LIMIT_FIELDS

/**
 * Checks the rules of a gate: each for itself, then that no two have the same name.
 * @throws TidegateError, also `ERR_DUPLICATE_RULE`
 */
export function compileRules(options: unknown, field = 'rules'): Rule[] {
  if (!Array.isArray(options)) throw invalid('ERR_INVALID_OPTION', field, 'an array of rules', options)
  const rules = options.map((rule, i) => compileRule(rule, `${field}[${i}]`))
  const first = new Map<string, number>()
  for (const [i, { name }] of rules.entries()) {
    const earlier = first.get(name)
    if (earlier !== undefined) {
      const expected = 'a name that no other rule has'
      const message = `${field}[${i}].name: expected ${expected}, but ${field}[${earlier}] is named "${name}" too`
      throw new TidegateError('ERR_DUPLICATE_RULE', message, { field: `${field}[${i}].name`, expected })
    }
    first.set(name, i)
  }
  return rules
}

/** A short fingerprint of a set of rules: equal wherever the same rules are loaded in the same order. */
export function versionOf(rules: readonly Rule[]): string {
  return shortHash(rules.map(({ id, match, limit }) => [id, match, limit]))
}

function compileLimit(fields: Record<string, unknown>, prefix: string, name: string, key: readonly string[]) {
  const limit = checkInteger(fields['limit'], `${prefix}limit`, 0, MAX_COUNT)
  const windowMs = parseDuration(fields['window'], `${prefix}window`)
  const algorithm = compileAlgorithm(fields['algorithm'], `${prefix}algorithm`)
  if (Math.min(limit, windowMs) > MAX_ENTRIES) {
    const expected = `a limit or a window that needs at most ${MAX_ENTRIES.toLocaleString('en-US')} entries for a key`
    const entries = Math.min(limit, windowMs).toLocaleString('en-US')
    const message = `${prefix}limit: expected ${expected}; an exact window of ${windowMs} ms could hold ${entries}`
    throw new TidegateError('ERR_INVALID_OPTION', message, { field: `${prefix}limit`, expected })
  }
  const id = `${name}.${shortHash([STATE_FORMAT, algorithm, windowMs, key])}`
  return { name, key, algorithm, limit, windowMs, id }
}

function compileAlgorithm(value: unknown, field: string): AlgorithmName {
  if (value === undefined) return 'sliding-window'
  const found = ALGORITHMS.find((algorithm) => algorithm === value)
  if (found === undefined) throw invalid('ERR_INVALID_OPTION', field, `one of ${ALGORITHMS.join(', ')}`, value)
  return found
}

function compileMatch(value: unknown, field: string): [string, string][] {
  if (value === undefined) return []
  const expected = 'an object that gives dimensions the values to match'
  if (!isRecord(value)) throw invalid('ERR_INVALID_OPTION', field, expected, value)
  return Object.entries(value).map(([dimension, wanted]) => [
    checkKey(dimension, field),
    checkKey(wanted, `${field}.${dimension}`),
  ])
}

function compileKey(value: unknown, field: string): string[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw invalid('ERR_INVALID_OPTION', field, 'an array of dimensions', value)
  const dimensions = value.map((dimension, i) => checkKey(dimension, `${field}[${i}]`))
  const repeated = dimensions.findIndex((dimension, i) => dimensions.indexOf(dimension) < i)
  if (repeated >= 0)
    throw invalid('ERR_INVALID_OPTION', `${field}[${repeated}]`, 'each dimension once', value[repeated])
  return dimensions
}

function compileDescription(value: unknown, field: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw invalid('ERR_INVALID_OPTION', field, 'a string', value)
}

function shortHash(value: unknown): string {
  return sha256(JSON.stringify(value)).slice(0, 8)
}
