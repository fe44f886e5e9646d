import { type Descriptor, valueIn } from '../descriptor.ts'
import { invalid, memberOf } from '../errors.ts'
import { checkKey } from '../key.ts'
import { isRecord } from '../options.ts'
import { type CompiledCondition, type Condition, compileCondition } from './condition.ts'
import { excludeEachOther } from './exclusion.ts'

/** Dimensions and what is asked of each. */
export type Conditions = Readonly<Record<string, Condition>>

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

/**
 * Checks conditions of which any will do: an object of them, or a list of such objects. None stands for all requests: that is
 * a mistake where it excepts them.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_INVALID_KEY`
 */
export function compileMatches(value: unknown, field: string): Match[] {
  if (value === undefined) return []
  const sets = Array.isArray(value)
    ? Array.from(value, (one: unknown, i) => [one, `${field}[${i}]`] as const)
    : [[value, field] as const]
  if (sets.length === 0) throw invalid('ERR_INVALID_OPTION', field, 'at least one set of conditions', value)
  return sets.map(([one, place]) => {
    const match = compileMatch(one ?? null, place)
    if (match.length > 0) return match
    throw invalid('ERR_INVALID_OPTION', place, 'at least one dimension and its condition', one)
  })
}

/** Whether the request meets every condition. */
export function matches(match: Match, descriptor: Descriptor): boolean {
  for (const [dimension, condition] of match) {
    if (!condition.matches(valueIn(descriptor, dimension))) return false
  }
  return true
}

/** True where whatever meets `other` meets `one`, as far as equal conditions show it. */
export function asksNoMoreThan(one: Match, other: Match): boolean {
  const asked = new Map(other)
  return one.every(([dimension, condition]) => {
    const found = asked.get(dimension)
    return found !== undefined && JSON.stringify(found) === JSON.stringify(condition)
  })
}

/** False where no request can meet both; true also where that is not easily seen. */
export function canMeetBoth(first: Match, second: Match): boolean {
  const conditions = new Map(first)
  return second.every(([dimension, condition]) => {
    const other = conditions.get(dimension)
    return other === undefined || !excludeEachOther(other, condition)
  })
}
