import { invalid, TidegateError } from '../errors.ts'
import { checkInteger } from '../options.ts'
import type { Quota } from '../quota.ts'
import { reduced, timeFor } from '../refill.ts'

/** The most store keys that one key is counted under: their names have two digits. */
export const MOST_SHARDS = 100

export interface Sharded {
  /** Under how many keys of the store each key is counted; 1 where it is not split. */
  readonly shards: number
}

/** What a shard has its own part of. */
type Amounts = Pick<Quota, 'limit' | 'refillUnits' | 'tokenUnits' | 'spanMs'>
type Splittable = Amounts & Pick<Quota, 'windowMs'> & Sharded & { readonly algorithm: string }

/** The part of one of so many shards, from 0: whole units that sum exactly, the first ones have one more. */
export function partOf(whole: number, shards: number, shard: number): number {
  return Math.floor(whole / shards) + (shard < whole % shards ? 1 : 0)
}

/** A limit as one of its shards has it: its part of the limit, and of a token bucket its part of the refill too. */
export function amountsOf(limit: Splittable, shard: number): Amounts {
  const { shards, windowMs, refillUnits, tokenUnits, spanMs } = limit
  const part = partOf(limit.limit, shards, shard)
  if (limit.algorithm !== 'token-bucket') return { limit: part, refillUnits, tokenUnits, spanMs }
  const [refill, token] = reduced(partOf(refillOf(limit), shards, shard), windowMs)
  const units = { refillUnits: refill, tokenUnits: token }
  return { limit: part, ...units, spanMs: Math.max(1, timeFor(units, part, 0)) }
}

/** The tokens that come in each window. */
function refillOf({ windowMs, refillUnits, tokenUnits }: Splittable): number {
  return (windowMs / tokenUnits) * refillUnits
}

/**
 * Reads `shards` of a limit.
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function compileShards<Limit extends Splittable & { readonly shape: readonly (string | number)[] }>(
  limit: Limit,
  { fields, prefix }: { readonly fields: Record<string, unknown>; readonly prefix: string },
): Limit {
  const { shards: written = 1 } = fields
  const shards = checkInteger(written, `${prefix}shards`, 1, MOST_SHARDS)
  if (shards === 1) return limit
  return ensureSplits({ ...limit, shards, shape: [...limit.shape, `${shards} shards`] }, prefix)
}

/**
 * Refuses a limit of which a shard would have nothing.
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function ensureSplits<Limit extends Splittable>(limit: Limit, prefix: string): Limit {
  const { shards } = limit
  if (shards === 1) return limit
  const isBucket = limit.algorithm === 'token-bucket'
  const least = isBucket ? Math.min(limit.limit, refillOf(limit)) : limit.limit
  if (least < shards) {
    const what = isBucket ? 'a capacity and a refill' : 'a limit'
    const expected = `${what} of at least one for each of its ${shards} shards`
    throw invalid('ERR_INVALID_OPTION', `${prefix}limit`, expected, least)
  }
  for (let shard = 0; isBucket && shard < shards; shard++) {
    const { refillUnits, tokenUnits } = amountsOf(limit, shard)
    if (refillUnits * tokenUnits <= Number.MAX_SAFE_INTEGER) continue
    const expected = `a refill whose part for each of ${shards} shards is exact; a multiple of ${shards} is`
    const field = `${prefix}limit`
    throw new TidegateError('ERR_INVALID_OPTION', `${field}: expected ${expected}`, { field, expected })
  }
  return limit
}
