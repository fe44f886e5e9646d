import { type RuleDecision, type Source, wasHeldBefore } from './decision.ts'

/** One admission, as a refund names it. */
export interface Admission {
  /** The time of its decision; undefined where it is known by its id alone. */
  readonly at: number | undefined
  /** The id of its request, where the algorithm keeps ids. */
  readonly id: string | undefined
  /**
   * How much was used just before it, at least; 0 where that is not known. A token bucket gives back more exactly with it:
   * what it has refilled since has first made up for that.
   */
  readonly usedBefore?: number
  /** The shard that it was charged to; undefined where that is not known, or the rule has none. */
  readonly shard?: number
  /** Where it was made; undefined where that is not known. */
  readonly source?: Source
}

/** One admission, as a log lists it. */
export interface Entry {
  /** The time of its decision, ms since the epoch. */
  readonly at: number
  /** The caller's id of the request, or the one that was made for it. */
  readonly id: string
  readonly cost: number
}

/** The admission that figures stand for, as a refund of all of it names it; undefined where nothing has been charged. */
export function admissionBy(figures: RuleDecision, cost: number, id: string | undefined): Admission | undefined {
  // Neither has what a rule in shadow would have refused, nor a lease that was held before.
  if (!figures.allowed || wasHeldBefore(figures)) return undefined
  // Rounded down: of a token bucket the figure counts a begun token.
  const of = { at: figures.at, id, usedBefore: Math.max(0, figures.used - cost - 1) }
  return figures.shard === undefined ? of : { ...of, shard: figures.shard }
}
