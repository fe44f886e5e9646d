import { type Duration, MAX_WINDOW_MS, parseDuration } from './duration.ts'
import { invalid } from './errors.ts'
import { checkFields } from './options.ts'

/** A rule that blocks a key which has gone over its limit, for longer each time. */
export interface PenaltyOptions {
  penalty?: {
    /** How long a key is blocked that was refused while it was not: the first time, the second, …, the last from then on. */
    blocks: readonly Duration[]
    /** How long after the end of a block the key must hold out to begin at the first again. Default: the longest block. */
    forgetAfter?: Duration
  }
}

/** A penalty that has been checked. Durations in ms. */
export interface Penalty {
  readonly blocksMs: readonly number[]
  readonly forgetAfterMs: number
}

const MOST_BLOCKS = 100

/**
 * Checks a penalty.
 * @throws TidegateError `ERR_INVALID_OPTION`, `ERR_UNKNOWN_OPTION`
 */
export function compilePenalty(value: unknown, field: string): Penalty | undefined {
  if (value === undefined) return undefined
  const { blocks, forgetAfter } = checkFields(value, field, ['blocks', 'forgetAfter'])
  if (!Array.isArray(blocks) || blocks.length < 1 || blocks.length > MOST_BLOCKS) {
    throw invalid('ERR_INVALID_OPTION', `${field}.blocks`, `a list of 1 to ${MOST_BLOCKS} durations`, blocks)
  }
  const blocksMs = Array.from(blocks, (block: unknown, i) => parseDuration(block, `${field}.blocks[${i}]`))
  const forgetAfterMs =
    forgetAfter === undefined ? Math.max(...blocksMs) : parseDuration(forgetAfter, `${field}.forgetAfter`)
  return { blocksMs, forgetAfterMs }
}

/** Stands for a block that ends by `unblock` alone. */
export const FOREVER = 'forever'

/**
 * Reads how long a key is to be blocked. Ms; infinite for ever.
 * @throws TidegateError `ERR_INVALID_OPTION`
 */
export function parseBlock(value: unknown, field: string): number {
  if (value === FOREVER) return Number.POSITIVE_INFINITY
  try {
    return parseDuration(value, field)
  } catch {
    const expected = `'${FOREVER}' or a duration of 1 ms to ${MAX_WINDOW_MS / 86_400_000} days, in ms or such as '10m'`
    throw invalid('ERR_INVALID_OPTION', field, expected, value)
  }
}
