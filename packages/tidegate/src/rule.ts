import { invalid, TidegateError } from './errors.ts'
import { checkPolicy, type FailurePolicy } from './failure-policy.ts'
import { checkKey } from './key.ts'
import { compileMode, type ModeOptions, modeFields } from './leases/lease-options.ts'
import type { LeaseTerms } from './leases/lease-terms.ts'
import { type AlgorithmName, type CompiledLimit, type LimitOptions, limitFields } from './limit.ts'
import type { WrittenLimit } from './limit-change.ts'
import { LIMIT_EXPECTED, type LimitFromDimension, type LimitFunction, type LimitSource } from './limit-source.ts'
import { type Conditions, compileMatch, compileMatches, type Match } from './matching/match.ts'
import { checkFields, checkFlag, checkPattern } from './options.ts'
import { compileOverrides, type Override, type OverrideOptions } from './override.ts'
import { compilePenalty, type Penalty, type PenaltyOptions } from './penalty.ts'
import type { Quota } from './quota.ts'
import { compileRuleLimit } from './rule-limit.ts'
import { shortHash } from './sha256.ts'

/** One limit of a gate. */
export interface RuleOptions extends Omit<LimitOptions, 'limit'>, PenaltyOptions, ModeOptions {
  /** Unique among the rules of a gate; letters, digits, `_`, `-` and `.`, at most 64. */
  name: string
  /** The rule applies to requests whose dimensions meet all of these. Default: to every request. */
  match?: Conditions
  /** The dimensions whose values are counted apart. Default: none, one count for all requests. */
  key?: readonly string[]
  /**
   * As in `LimitOptions`; or it comes with each request: from a dimension, or from a function. Counts stay what they are
   * when it changes. A rule that is `unlimited` can go without.
   */
  limit?: number | LimitFromDimension | LimitFunction
  /** Exceptions: the first whose conditions the request meets has its limit. The count is the same. */
  overrides?: readonly OverrideOptions[]
  /** Requests that meet these conditions, or any of several such sets, are none of this rule's. */
  skip?: Conditions | readonly Conditions[]
  /** Requests pass this rule, and it counts nothing; the decision shows it. Default: false. */
  unlimited?: boolean
  /** The rule is decided and counted, and its figures are told, but it never refuses a request. Default: false. */
  shadow?: boolean
  /** A request without a dimension of `key` (or of `cost`) is refused. Default: false, the rule passes it by. */
  required?: boolean
  /**
   * The dimension whose value is the cost of a request for this rule: a decimal whole number, 1 where it is missing.
   * Default: the cost of the request.
   */
  cost?: string
  /**
   * What the rule does while the store does not answer: `'deny'`, `'allow'`, or `'local'`, this process's share of the
   * limit. One that denies refuses the whole request. Default: the gate's.
   */
  onStoreFailure?: FailurePolicy
  /** What the rule is for, for whoever reads it. */
  description?: string
}

/** A rule that has been checked, in the form that limiters and stores work with. */
export interface Rule extends Quota {
  readonly name: string
  readonly match: Match
  readonly key: readonly string[]
  readonly algorithm: AlgorithmName
  readonly penalty: Penalty | undefined
  /** Of a leased rule: how its permits are had; undefined where the store decides each request. */
  readonly lease: LeaseTerms | undefined
  /** Under how many keys of the store each key is counted. */
  readonly shards: number
  /** Which dimension of `key` alone decides the slot of a cluster; -1 where all of them do. */
  readonly slot: number
  readonly description: string | undefined
  readonly overrides: readonly Override[]
  /** A request that meets one of these is not counted. */
  readonly skip: readonly Match[]
  readonly unlimited: boolean
  /** Never refuses: a check of it that is not admitted is not charged, and those beside it are. */
  readonly shadow: boolean
  readonly required: boolean
  /** The dimension that gives the cost; undefined where the request does. */
  readonly cost: string | undefined
  /** What the limit is asked of at each request; `limit` is then what it is without an answer. */
  readonly limitSource: LimitSource | undefined
  /** The limit with the fields that it was made of; undefined where the rule has none. */
  readonly written: WrittenLimit | undefined
  /** What decides while the store does not answer. No part of the version: what is counted is the same. */
  readonly onStoreFailure: FailurePolicy
  /**
   * `name.fingerprint`: what its stored state is filed under. The fingerprint covers the format of
   * the state, the algorithm, the window and the key's dimensions, so that a change of any of them
   * starts anew; a changed limit keeps its counts.
   */
  readonly id: string
}

/** Counts the formats of stored state; part of every fingerprint. */
export const STATE_FORMAT = 1

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const NAME_EXPECTED = "1 to 64 letters, digits, '_', '-' or '.', beginning with a letter or digit"
const RULE_FIELDS = [
  ...['name', 'match', 'key', ...limitFields, 'overrides', 'skip', 'unlimited', 'shadow', 'required', 'cost'],
  ...['penalty', ...modeFields, 'onStoreFailure', 'description'],
]

/** A name that can stand in keys, headers and metrics. */
export function checkName(value: unknown, field: string): string {
  return checkPattern(value, field, NAME, NAME_EXPECTED)
}

/**
 * Checks one rule. `field` is where it stands, e.g. `rules[2]`.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_INVALID_KEY`
 */
export function compileRule(options: unknown, field: string, policy: FailurePolicy = 'local'): Rule {
  const fields = checkFields(options, field, RULE_FIELDS)
  const name = checkName(fields['name'], `${field}.name`)
  const match = compileMatch(fields['match'], `${field}.match`)
  const key = compileKey(fields['key'], `${field}.key`)
  const description = compileDescription(fields['description'], `${field}.description`)
  const counting = compileCounting(fields, `${field}.`, name, key)
  const { written, limitSource } = counting
  const overridden = written && { ...written, isFromRequest: limitSource !== undefined }
  return {
    ...counting,
    match,
    description,
    overrides: compileOverrides(fields['overrides'], `${field}.overrides`, overridden),
    skip: compileMatches(fields['skip'], `${field}.skip`),
    shadow: checkFlag(fields['shadow'], `${field}.shadow`),
    required: checkFlag(fields['required'], `${field}.required`),
    cost: fields['cost'] === undefined ? undefined : checkKey(fields['cost'], `${field}.cost`),
    onStoreFailure: checkPolicy(fields['onStoreFailure'], `${field}.onStoreFailure`, policy),
  }
}

/** Checks the rule of a limiter: one limit, counted by the key of each call. */
export function compileLimiterRule(options: Record<string, unknown>, name: string): Rule {
  const { limit } = options
  // A limiter has no descriptor that a limit could come from.
  if (typeof limit !== 'number') throw invalid('ERR_INVALID_OPTION', 'limit', LIMIT_EXPECTED, limit)
  const onStoreFailure = checkPolicy(options['onStoreFailure'], 'onStoreFailure')
  return { ...compileCounting(options, '', name, ['key']), match: [], description: undefined, ...PLAIN, onStoreFailure }
}

const PLAIN = { overrides: [], skip: [], shadow: false, required: false, cost: undefined }

/**
 * Checks the rules of a gate: each for itself, then that no two have the same name.
 * @throws TidegateError, also `ERR_DUPLICATE_RULE`
 */
export function compileRules(options: unknown, field = 'rules', policy: FailurePolicy = 'local'): Rule[] {
  if (!Array.isArray(options)) throw invalid('ERR_INVALID_OPTION', field, 'an array of rules', options)
  const rules = Array.from(options, (rule: unknown, i) => compileRule(rule, `${field}[${i}]`, policy))
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

/** True where the algorithm keeps the id of each request. */
export function keepsIds({ algorithm }: Rule): boolean {
  return KEEPING_IDS.includes(algorithm)
}

const KEEPING_IDS: readonly string[] = ['sliding-log', 'concurrency']

/** True where what is admitted is held until it is released. */
export function hasLeases({ algorithm }: { readonly algorithm: string }): boolean {
  return algorithm === 'concurrency'
}

/** @throws TidegateError `ERR_ALGORITHM_UNSUPPORTED` where the rule has no leases */
export function ensureLeases(rule: Rule): void {
  if (!hasLeases(rule)) throw unsupported(rule, 'leases: only concurrency has')
}

/** @throws TidegateError `ERR_ALGORITHM_UNSUPPORTED` where the rule does not keep admissions one by one */
export function ensureLists(rule: Rule): void {
  if (!keepsIds(rule)) throw unsupported(rule, 'list of its admissions: sliding-log and concurrency have')
}

function unsupported({ name, algorithm }: Rule, what: string): TidegateError {
  return new TidegateError('ERR_ALGORITHM_UNSUPPORTED', `rule ${name}: the algorithm ${algorithm} has no ${what}`)
}

function compileCounting(fields: Record<string, unknown>, prefix: string, name: string, key: readonly string[]) {
  const unlimited = checkFlag(fields['unlimited'], `${prefix}unlimited`)
  const { compiled, written, limitSource } = compileRuleLimit(fields, prefix, { name, unlimited })
  const { shape, ...limit } = compiled
  const penalty = compilePenalty(fields['penalty'], `${prefix}penalty`)
  const lease = written === undefined ? undefined : compileMode(fields, prefix, compiled)
  const id = `${name}.${shortHash([STATE_FORMAT, limit.algorithm, ...shape, key])}`
  return { name, key, ...limit, penalty, lease, slot: -1, id, unlimited, limitSource, written }
}

/** The rule with another limit, counted as before. */
export function withLimit(rule: Rule, { shape: _, ...limit }: CompiledLimit): Rule {
  return { ...rule, ...limit }
}

function compileKey(value: unknown, field: string): string[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw invalid('ERR_INVALID_OPTION', field, 'an array of dimensions', value)
  const dimensions = Array.from(value, (dimension: unknown, i) => checkKey(dimension, `${field}[${i}]`))
  const repeated = dimensions.findIndex((dimension, i) => dimensions.indexOf(dimension) < i)
  if (repeated >= 0)
    throw invalid('ERR_INVALID_OPTION', `${field}[${repeated}]`, 'each dimension once', value[repeated])
  return dimensions
}

function compileDescription(value: unknown, field: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw invalid('ERR_INVALID_OPTION', field, 'a string', value)
}
