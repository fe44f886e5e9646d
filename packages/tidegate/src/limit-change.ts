import { MAX_COUNT } from './decision.ts'
import { type CompiledLimit, compileLimit } from './limit.ts'
import { checkInteger } from './options.ts'
import { ensureSplits } from './sharding/split.ts'

/** A limit that has been checked, with the fields that it was made of. */
export interface WrittenLimit {
  readonly compiled: CompiledLimit
  readonly fields: Record<string, unknown>
}

/**
 * The same limit with other numbers, as an override or a request brings them.
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function changeLimit(
  { compiled, fields }: WrittenLimit,
  change: Record<string, unknown>,
  prefix: string,
): CompiledLimit {
  const changesLimitAlone = Object.keys(change).every((name) => name === 'limit')
  // Its windows do not depend on its limit, and to find those of a calendar again would cost much.
  if (compiled.algorithm === 'fixed-window' && changesLimitAlone) {
    return ensureSplits({ ...compiled, limit: checkInteger(change['limit'], `${prefix}limit`, 0, MAX_COUNT) }, prefix)
  }
  return compileLimit({ ...fields, ...change }, prefix)
}
