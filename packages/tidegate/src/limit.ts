import { type AlignmentOptions, compileAlignment } from './alignment.ts'
import { MAX_COUNT } from './decision.ts'
import { type Duration, MAX_WINDOW_MS, parseDuration } from './duration.ts'
import { invalid, TidegateError } from './errors.ts'
import { checkInteger } from './options.ts'
import type { Quota } from './quota.ts'
import { reduced, timeFor } from './refill.ts'
import { compileShards, type Sharded } from './sharding/split.ts'

/** The algorithms that stores know. */
export const ALGORITHMS = [
  'sliding-window',
  'sliding-log',
  'sliding-counter',
  'fixed-window',
  'token-bucket',
  'concurrency',
  'quota',
] as const
export type AlgorithmName = (typeof ALGORITHMS)[number]

/** What a rule can write: `gcra` is the token bucket in the words of redis-cell and redis_rate. */
export const ALGORITHM_SPELLINGS = [...ALGORITHMS, 'gcra'] as const
export type AlgorithmSpelling = (typeof ALGORITHM_SPELLINGS)[number]

/** What is admitted, and in how long. */
export interface LimitOptions extends AlignmentOptions {
  /**
   * The most cost admitted in any window, of concurrency the most held at once, of a token bucket the tokens that come in
   * each window: a whole number from 0 to 4,294,967,295; of sliding-log and concurrency, which list what they admit, to
   * 4,000,000. 0 admits nothing.
   */
  limit: number
  /**
   * The window: milliseconds or `'1s'`, `'1h'`, `'7d'`; from 1 ms to 366 days. A quota has none, `gcra` has a period. Of
   * concurrency it is the life of a lease: how long after its grant or last renewal it ends by itself.
   */
  window?: Duration
  /** How it is counted. Default: `sliding-window`, exact in every continuous window. */
  algorithm?: AlgorithmSpelling
  /**
   * Sliding window: admissions join the tick of this length that they fall in, and count until all of it has left the
   * window. Never over-admits, refuses early by at most this; the key holds window / resolution entries. Default: 1 ms.
   */
  resolution?: Duration
  /** Token bucket: the most tokens that it holds, which is the largest burst; 0 to 4,294,967,295. Default: `limit`. */
  capacity?: number
  /** Token bucket: the tokens that come in each window; 1 to 4,294,967,295. Default: `limit`. */
  refill?: number
  /** `gcra`: the time in which `limit` requests are admitted evenly, as `window` of a token bucket. */
  period?: Duration
  /** `gcra`: the most that are admitted at once, as `capacity` of a token bucket. Default: `limit`. */
  burst?: number
  /**
   * Counts each key under so many keys of the store, each with its part of the limit, so that a key that is asked for very
   * often is spread over the nodes of a cluster; 1 to 100, and no more than the limit. Default: 1.
   */
  shards?: number
}

/** A limit that has been checked. */
export interface CompiledLimit extends Omit<Quota, 'name'>, Sharded {
  readonly algorithm: AlgorithmName
  /** What tells the states of this limit from those of another, besides the algorithm. */
  readonly shape: readonly (string | number)[]
}

/** A rule may hold at most this many entries for one key (10 bytes each in Redis). */
export const MAX_ENTRIES = 4_000_000

/** The fields that each algorithm has besides `limit` and `algorithm`. */
const FIELDS: Record<AlgorithmSpelling, readonly (keyof LimitOptions)[]> = {
  'sliding-window': ['window', 'resolution'],
  'sliding-log': ['window'],
  'sliding-counter': ['window'],
  'fixed-window': ['window', 'align', 'timeZone'],
  'token-bucket': ['window', 'capacity', 'refill'],
  gcra: ['period', 'burst'],
  concurrency: ['window'],
  quota: [],
}

/** The fields of `LimitOptions`. */
export const limitFields: readonly string[] = [
  ...new Set(['limit', 'window', 'algorithm', ...Object.values(FIELDS).flat(), 'shards']),
]

/** Where a limit's fields are, and where they stand, e.g. `rules[2].`. */
interface Source {
  readonly fields: Record<string, unknown>
  readonly prefix: string
}

/**
 * Checks the fields of a limit.
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function compileLimit(fields: Record<string, unknown>, prefix: string): CompiledLimit {
  const source = { fields, prefix }
  const limit = checkInteger(fields['limit'], `${prefix}limit`, 0, MAX_COUNT)
  const algorithm = spelling(source)
  const known: readonly string[] = FIELDS[algorithm]
  for (const name of limitFields) {
    if (fields[name] === undefined || OF_ALL.includes(name) || known.includes(name)) continue
    const has = known.length === 0 ? 'which has a limit alone' : `which has ${known.join(', ')}`
    throw invalid(
      'ERR_INVALID_OPTION',
      `${prefix}${name}`,
      `none with the algorithm ${algorithm}, ${has}`,
      fields[name],
    )
  }
  return compileShards(COMPILE[algorithm](limit, source), source)
}

/** The fields that every algorithm has. */
const OF_ALL = ['limit', 'algorithm', 'shards']

const NONE = { windowMs: 0, spanMs: 0, resolutionMs: 1, refillUnits: 0, tokenUnits: 0, windows: undefined, shards: 1 }

const COMPILE: Record<AlgorithmSpelling, (limit: number, source: Source) => CompiledLimit> = {
  'sliding-window': slidingWindow,
  'sliding-log': (limit, source) => listed('sliding-log', limit, source),
  concurrency: (limit, source) => listed('concurrency', limit, source),
  'fixed-window': (limit, { fields, prefix }) => {
    return { ...NONE, algorithm: 'fixed-window', limit, ...compileAlignment(fields, prefix) }
  },
  'sliding-counter': slidingCounter,
  'token-bucket': tokenBucket,
  gcra: genericCellRate,
  quota: (limit) => ({ ...NONE, algorithm: 'quota', limit, spanMs: Number.POSITIVE_INFINITY, shape: [] }),
}

function spelling({ fields, prefix }: Source): AlgorithmSpelling {
  const value = fields['algorithm']
  if (value === undefined) return 'sliding-window'
  const found = ALGORITHM_SPELLINGS.find((one) => one === value)
  if (found !== undefined) return found
  throw invalid('ERR_INVALID_OPTION', `${prefix}algorithm`, `one of ${ALGORITHM_SPELLINGS.join(', ')}`, value)
}

function slidingWindow(limit: number, { fields, prefix }: Source): CompiledLimit {
  const windowMs = parseDuration(fields['window'], `${prefix}window`)
  const resolutionMs = resolutionOf(fields['resolution'], `${prefix}resolution`, windowMs)
  const ticks = resolutionMs === 1 ? windowMs : Math.ceil(windowMs / resolutionMs) + 1
  if (Math.min(limit, ticks) > MAX_ENTRIES) {
    const expected = `a limit, a window or a resolution that needs at most ${show(MAX_ENTRIES)} entries for a key`
    const message = `${prefix}limit: expected ${expected}; a window of ${windowMs} ms by ${resolutionMs} ms could hold ${show(Math.min(limit, ticks))}`
    throw new TidegateError('ERR_INVALID_OPTION', message, { field: `${prefix}limit`, expected })
  }
  const spanMs = windowMs + resolutionMs - 1
  return {
    ...NONE,
    algorithm: 'sliding-window',
    limit,
    windowMs,
    spanMs,
    resolutionMs,
    shape: [windowMs, resolutionMs],
  }
}

/** Where everything that counts is listed one by one, at most as long as a window. */
function listed(algorithm: AlgorithmName, limit: number, { fields, prefix }: Source): CompiledLimit {
  if (limit > MAX_ENTRIES) {
    const expected = `a whole number from 0 to ${show(MAX_ENTRIES)}, because ${algorithm} lists each admission`
    throw invalid('ERR_INVALID_OPTION', `${prefix}limit`, expected, limit)
  }
  const windowMs = parseDuration(fields['window'], `${prefix}window`)
  return { ...NONE, algorithm, limit, windowMs, spanMs: windowMs, shape: [windowMs] }
}

function resolutionOf(value: unknown, field: string, windowMs: number): number {
  if (value === undefined) return 1
  const resolutionMs = parseDuration(value, field)
  if (resolutionMs <= windowMs) return resolutionMs
  throw invalid('ERR_INVALID_OPTION', field, `a duration of at most the window, ${show(windowMs)} ms`, value)
}

/** Admissions join the window that they fall in, and count for all of the next. */
function slidingCounter(limit: number, { fields, prefix }: Source): CompiledLimit {
  const windowMs = parseDuration(fields['window'], `${prefix}window`)
  const times = { windowMs, spanMs: 2 * windowMs, resolutionMs: windowMs }
  return { ...NONE, algorithm: 'sliding-counter', limit, ...times, shape: [windowMs] }
}

function tokenBucket(limit: number, { fields, prefix }: Source): CompiledLimit {
  const capacity = countOf(fields['capacity'], `${prefix}capacity`, 0, limit)
  // A bucket that never holds anything needs no refill: a limit of 0 refuses everything here as elsewhere.
  const refill = countOf(fields['refill'], `${prefix}refill`, 1, limit === 0 && capacity === 0 ? 1 : limit)
  return bucket(capacity, refill, parseDuration(fields['window'], `${prefix}window`), prefix)
}

/** The words of redis_rate; in those of redis-cell `burst` is max_burst + 1, `limit` the count. */
function genericCellRate(limit: number, { fields, prefix }: Source): CompiledLimit {
  const capacity = countOf(fields['burst'], `${prefix}burst`, 0, limit)
  const refill = limit === 0 && capacity === 0 ? 1 : checkInteger(limit, `${prefix}limit`, 1, MAX_COUNT)
  return bucket(capacity, refill, parseDuration(fields['period'], `${prefix}period`), prefix)
}

function countOf(value: unknown, field: string, least: number, otherwise: number): number {
  return checkInteger(value === undefined ? otherwise : value, field, least, MAX_COUNT)
}

function bucket(capacity: number, refill: number, windowMs: number, prefix: string): CompiledLimit {
  const [refillUnits, tokenUnits] = reduced(refill, windowMs)
  const rate = `${show(refill)} in ${show(windowMs)} ms`
  if (refillUnits * tokenUnits > Number.MAX_SAFE_INTEGER) {
    const expected =
      'tokens per ms whose fraction in lowest terms has a numerator and a denominator with a product below 2^53'
    const shown = `${rate} are ${show(refillUnits)}/${show(tokenUnits)}; a rounder number of tokens is exact`
    throw new TidegateError('ERR_INVALID_OPTION', `${prefix}limit: expected ${expected}; ${shown}`, {
      field: `${prefix}limit`,
      expected,
    })
  }
  const fillMs = Math.max(1, timeFor({ refillUnits, tokenUnits }, capacity, 0))
  if (fillMs > MAX_FILL_MS) {
    const expected = `a bucket that is full again within ${show(MAX_FILL_MS)} ms (100 years)`
    throw new TidegateError(
      'ERR_INVALID_OPTION',
      `${prefix}limit: expected ${expected}; ${show(capacity)} tokens at ${rate} need longer`,
      { field: `${prefix}limit`, expected },
    )
  }
  const units = { refillUnits, tokenUnits }
  return { ...NONE, algorithm: 'token-bucket', limit: capacity, windowMs, spanMs: fillMs, ...units, shape: [windowMs] }
}

/** The longest that a bucket may take to fill: 100 years of 366 days. */
export const MAX_FILL_MS = 100 * MAX_WINDOW_MS

function show(value: number): string {
  return value.toLocaleString('en-US')
}
