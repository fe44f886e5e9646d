import { timeFor } from '../refill.ts'
import type { Rule } from '../rule.ts'
import { type LeaseTerms, longestLife } from './lease-terms.ts'

/** A rule as permits of it are taken from the store. */
export interface Leasing extends LeaseTerms {
  /** By which the store counts. */
  readonly rule: Rule
  /** Whether permits end with the window that they were taken in. */
  readonly endsWithWindow: boolean
}

/**
 * How the permits of a rule are taken, so that whatever is decided by them keeps its limit; undefined where the store
 * has to decide. A permit is taken at s and can be used until e = s + life.
 *
 * Sliding window: it counts until e + window, so that the window of the store is longer by the life. Token bucket: in any
 * time T the permits used were taken in T + life, so that what comes in a life is held back from the capacity. Fixed
 * window: it ends with its window. With slack nothing is longer or less: a window admits besides the limit what was held
 * at its beginning, and how much that can be is bounded.
 */
export function leasingOf(rule: Rule): Leasing | undefined {
  const { lease } = rule
  if (lease === undefined) return undefined
  let known = leasings.get(rule)
  if (known === undefined) {
    known = leasingBy(rule, lease) ?? null
    leasings.set(rule, known)
  }
  return known ?? undefined
}

const leasings = new WeakMap<Rule, Leasing | null>()

function leasingBy(rule: Rule, lease: LeaseTerms): Leasing | undefined {
  const { lifeMs, slack } = lease
  const terms = { ...lease, endsWithWindow: rule.algorithm === 'fixed-window' }
  if (slack > 0 || terms.endsWithWindow) return { ...terms, rule }
  if (rule.algorithm === 'sliding-window') return { ...terms, rule: { ...rule, spanMs: rule.spanMs + lifeMs } }
  // A shard, or a limit that came with a request, can hold too little for it.
  if (lifeMs > longestLife(rule)) return undefined
  const { refillUnits, tokenUnits } = rule
  const limit = rule.limit - Math.ceil((lifeMs * refillUnits) / tokenUnits)
  return limit < 1 ? undefined : { ...terms, rule: { ...rule, limit, spanMs: Math.max(1, timeFor(rule, limit, 0)) } }
}
