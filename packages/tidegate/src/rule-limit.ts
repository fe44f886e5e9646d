import { MAX_COUNT } from './decision.ts'
import { type CompiledLimit, compileLimit, limitFields } from './limit.ts'
import type { WrittenLimit } from './limit-change.ts'
import { compileLimitSource, isLimitSource, type LimitSource } from './limit-source.ts'

/** The limit of a rule. */
export interface RuleLimit {
  readonly compiled: CompiledLimit
  /** What an override changes; undefined where the rule has no limit. */
  readonly written: WrittenLimit | undefined
  /** Where the limit comes from at each request, if it does. */
  readonly limitSource: LimitSource | undefined
}

/**
 * Checks the limit of a rule: a number, or where it comes from at each request; an unlimited rule can have none.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_INVALID_KEY`
 */
export function compileRuleLimit(
  fields: Record<string, unknown>,
  prefix: string,
  { name, unlimited }: { readonly name: string; readonly unlimited: boolean },
): RuleLimit {
  const own = Object.fromEntries(limitFields.map((field) => [field, fields[field]]))
  if (unlimited && limitFields.every((field) => own[field] === undefined)) {
    return { compiled: compileLimit({ ...own, ...NO_LIMIT }, prefix), written: undefined, limitSource: undefined }
  }
  const { limit } = own
  const limitSource = isLimitSource(limit) ? compileLimitSource(limit, `${prefix}limit`, name) : undefined
  if (limitSource === undefined) {
    const compiled = compileLimit(own, prefix)
    return { compiled, written: { compiled, fields: own }, limitSource }
  }
  const stated = { ...own, limit: statedLimit(own) }
  const compiled = compileLimit(stated, prefix)
  return { compiled, written: { compiled, fields: stated }, limitSource }
}

/** Never counted: no field of it matters. */
const NO_LIMIT = { limit: MAX_COUNT, algorithm: 'quota' }

/**
 * The limit by which the other fields are checked while the true one is not known. A function's is 1; with a capacity or
 * shards as much, so that the bucket fills within a window, and each shard has something.
 */
function statedLimit({ limit, capacity, burst, shards }: Record<string, unknown>): unknown {
  if (typeof limit === 'object') return (limit as { default?: unknown }).default
  return [capacity, burst, shards].find((one) => typeof one === 'number' && one >= 1) ?? 1
}
