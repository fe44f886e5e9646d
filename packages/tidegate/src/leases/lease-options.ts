import { invalid } from '../errors.ts'
import type { CompiledLimit } from '../limit.ts'
import { checkInteger } from '../options.ts'
import { type LeaseTerms, leasable, longestLife } from './lease-terms.ts'

/** Who decides: the store each request, or this process from permits that it has taken from the store. */
export type RuleMode = 'exact' | 'leased'

/** How the permits of a rule are had. */
export interface ModeOptions {
  /**
   * `'exact'`: the store decides each request. `'leased'`: this process takes permits from the store in batches and decides
   * by itself as long as it has some; no window admits more than the limit. Of `sliding-window`, `fixed-window` and
   * `token-bucket`. In a memory store nothing is leased. Default: `'exact'`.
   */
  mode?: RuleMode
  /**
   * With `mode: 'leased'`: by what share of the limit a window may be exceeded, from 0 to 1, so that permits can be held for
   * long and the store is asked less: all processes together hold no more permits than that, and each at least one. Default: 0.
   */
  slack?: number
  /** With `mode: 'leased'` and no slack: how long permits can be used, ms; 10 to 60,000. Default: a 20th of the window, 10 to 1,000. */
  leaseMs?: number
}

/** The fields of `ModeOptions`. */
export const modeFields: readonly (keyof ModeOptions)[] = ['mode', 'slack', 'leaseMs']

/**
 * Checks how the permits of a rule are had.
 * @returns undefined where the store decides
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function compileMode(
  fields: Record<string, unknown>,
  prefix: string,
  limit: CompiledLimit,
): LeaseTerms | undefined {
  const { mode = 'exact', slack, leaseMs } = fields
  if (mode !== 'exact' && mode !== 'leased') {
    const expected = mode === 'edge' ? "'exact' or 'leased': there are no edge shares yet" : "'exact' or 'leased'"
    throw invalid('ERR_INVALID_OPTION', `${prefix}mode`, expected, mode)
  }
  if (mode === 'exact') {
    const [name] = modeFields.filter((one) => one !== 'mode' && fields[one] !== undefined)
    if (name === undefined) return undefined
    throw invalid('ERR_INVALID_OPTION', `${prefix}${name}`, "none without mode: 'leased'", fields[name])
  }
  const reason = leasable(limit) ?? (fields['penalty'] === undefined ? undefined : PENALISED)
  if (reason !== undefined) throw invalid('ERR_INVALID_OPTION', `${prefix}mode`, `'exact', because ${reason}`, mode)
  const share = checkSlack(slack, `${prefix}slack`, limit)
  return { slack: share, lifeMs: lifeOf(leaseMs, `${prefix}leaseMs`, limit, share) }
}

const PENALISED = 'a batch of permits that does not fit would begin the block of a penalty'

function checkSlack(value: unknown, field: string, { algorithm }: CompiledLimit): number {
  if (value === undefined || value === 0) return 0
  if (typeof value !== 'number' || !(value > 0 && value <= 1)) {
    throw invalid('ERR_INVALID_OPTION', field, 'a number from 0 to 1, such as 0.02', value)
  }
  if (algorithm !== 'fixed-window') return value
  const expected = 'none with the algorithm fixed-window, whose permits can be used until its window ends as it is'
  throw invalid('ERR_INVALID_OPTION', field, expected, value)
}

const LEAST_MS = 10

function lifeOf(value: unknown, field: string, limit: CompiledLimit, slack: number): number {
  const { windowMs } = limit
  if (slack > 0) {
    if (value === undefined) return windowMs
    throw invalid('ERR_INVALID_OPTION', field, 'none with slack: permits can then be used for a whole window', value)
  }
  const most = longestLife(limit)
  const usual = Math.max(LEAST_MS, Math.min(1_000, Math.floor(limit.spanMs / 20)))
  if (value === undefined && most >= LEAST_MS) return Math.min(usual, most)
  const life = checkInteger(value ?? usual, field, LEAST_MS, 60_000)
  if (life <= most) return life
  const expected = `at most the time in which a tenth of the capacity comes, ${Math.floor(most)} ms`
  throw invalid('ERR_INVALID_OPTION', field, expected, life)
}
