import type { CompiledLimit } from '../limit.ts'

/** A lease that has been checked. */
export interface LeaseTerms {
  readonly slack: number
  /** How long permits can be used, ms. */
  readonly lifeMs: number
}

/** Why a limit cannot be leased; undefined where it can. */
export function leasable({ algorithm }: Pick<CompiledLimit, 'algorithm'>): string | undefined {
  return REASONS[algorithm]
}

const REASONS: Partial<Record<CompiledLimit['algorithm'], string>> = {
  'sliding-log': 'sliding-log lists each admission by its own id',
  'sliding-counter': 'sliding-counter estimates, and the errors of both would add up',
  concurrency: 'what concurrency admits is held by its caller until it is released',
  quota: 'the permits of a process that dies would be lost to a quota for ever',
}

/** The longest that permits of a limit can live, ms: of a token bucket, what comes in that time is held back from it. */
export function longestLife(limit: Pick<CompiledLimit, 'algorithm' | 'limit' | 'refillUnits' | 'tokenUnits'>): number {
  const { algorithm, refillUnits, tokenUnits } = limit
  return algorithm === 'token-bucket' ? (limit.limit * tokenUnits) / (10 * refillUnits) : Number.POSITIVE_INFINITY
}
