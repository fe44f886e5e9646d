import { type Descriptor, valueIn } from '../descriptor.ts'
import { invalid, memberOf } from '../errors.ts'
import { checkKey } from '../key.ts'
import { isRecord } from '../options.ts'
import { type CompiledCondition, compileCondition } from './condition.ts'
import { excludeEachOther } from './exclusion.ts'

/** What a rule asks of a request, all of it; nothing asks nothing. */
export type Match = readonly (readonly [dimension: string, condition: CompiledCondition])[]

/**
 * Checks the conditions of a rule. `field` is where they stand, e.g. `rules[2].match`.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_INVALID_KEY`
 */
export function compileMatch(value: unknown, field: string): Match {
  if (value === undefined) return []
  const expected = 'an object that gives dimensions the values to match'
  if (!isRecord(value)) throw invalid('ERR_INVALID_OPTION', field, expected, value)
  return Object.entries(value).map(([dimension, condition]) => [
    checkKey(dimension, field),
    compileCondition(condition, memberOf(field, dimension)),
  ])
}

/** Whether the request meets every condition. */
export function matches(match: Match, descriptor: Descriptor): boolean {
  for (const [dimension, condition] of match) {
    if (!condition.matches(valueIn(descriptor, dimension))) return false
  }
  return true
}

/** False where no request can meet both; true also where that is not easily seen. */
export function canMeetBoth(first: Match, second: Match): boolean {
  const conditions = new Map(first)
  return second.every(([dimension, condition]) => {
    const other = conditions.get(dimension)
    return other === undefined || !excludeEachOther(other, condition)
  })
}
