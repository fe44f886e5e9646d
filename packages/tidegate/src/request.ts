import { MAX_COUNT } from './decision.ts'
import { invalid } from './errors.ts'
import { checkFields } from './options.ts'

/** What a single request may say besides its key. */
export interface RequestOptions {
  /** A whole number from 0 to 4,294,967,295. Default: 1. A cost of 0 reads and never writes. */
  cost?: number
}

/**
 * Reads the cost of a request.
 * @throws TidegateError `ERR_INVALID_COST`, `ERR_UNKNOWN_OPTION`
 */
export function costOf(options: RequestOptions | undefined): number {
  if (options === undefined) return 1
  const { cost = 1 } = checkFields(options, 'options', ['cost'])
  if (typeof cost === 'number' && Number.isInteger(cost) && cost >= 0 && cost <= MAX_COUNT) return cost + 0
  throw invalid('ERR_INVALID_COST', 'cost', 'a whole number from 0 to 4,294,967,295', cost)
}
